/** Client authentication settings (OpenID Connect Core 1.0 section 9). */

import type { Piece } from '../../../pages/console/detail-page.ts';
import type { Option } from '../../../pages/console/form.ts';
import type { TLS_SUBJECTS } from '../application-settings.policy.ts';
import { algOptions, code, labelled, type SettingGroup, setting } from '../setting-group.console.ts';
import { CLIENT_ASSERTION_ALGS } from './algorithms.policy.ts';

const METHODS: readonly Option[] = [
  { value: 'client_secret_basic', label: 'A secret, in the header (client_secret_basic)', hint: 'Most libraries do this.' },
  { value: 'client_secret_post', label: 'A secret, in the form (client_secret_post)' },
  { value: 'client_secret_jwt', label: 'A JWT signed with a secret (client_secret_jwt)', hint: 'The secret never travels.' },
  {
    value: 'private_key_jwt',
    label: 'A JWT signed with its key (private_key_jwt)',
    hint: 'The safest: there is no secret. Give its public keys below.',
  },
  {
    value: 'tls_client_auth',
    label: 'A certificate of an authority (tls_client_auth)',
    hint: 'Issued by an authority of MTLS_CA_FILE. Enter below the name in the certificate.',
  },
  {
    value: 'self_signed_tls_client_auth',
    label: 'A certificate of its own (self_signed_tls_client_auth)',
    hint: 'Give its keys below, each with its certificate (x5c).',
  },
  { value: 'none', label: 'None (public client)', hint: 'For applications that cannot keep a secret; PKCE is then required.' },
];

const SUBJECTS: readonly (readonly [name: (typeof TLS_SUBJECTS)[number], label: string, hint: string])[] = [
  ['tls_client_auth_subject_dn', 'Subject', 'Its distinguished name, such as CN=client,O=Bank,C=DE.'],
  ['tls_client_auth_san_dns', 'DNS name', 'An alternative name, such as client.bank.example.'],
  ['tls_client_auth_san_uri', 'URI', 'An alternative name, such as spiffe://bank.example/client.'],
  ['tls_client_auth_san_ip', 'IP address', 'An alternative name.'],
  ['tls_client_auth_san_email', 'E-mail address', 'An alternative name.'],
];

const ASSERTION_ALGS = algOptions(CLIENT_ASSERTION_ALGS);

export const authenticationSettings: SettingGroup = {
  id: 'authentication',
  title: 'Authentication',
  lead: 'How the application authenticates to the token endpoint.',
  tab: 'credentials',
  fields: ({ settings }) => [
    setting({
      kind: 'radios',
      name: 'token_endpoint_auth_method',
      label: 'Client authentication',
      options: METHODS,
      value: settings.token_endpoint_auth_method,
      hint: 'Choosing a method without a secret deletes the secrets permanently. Choosing one that needs a secret creates it and shows it once.',
    }),
    setting({
      name: 'token_endpoint_auth_signing_alg',
      label: 'Client assertion algorithm',
      options: ASSERTION_ALGS,
      value: settings.token_endpoint_auth_signing_alg ?? '',
      hint: 'For client_secret_jwt and private_key_jwt. Any other algorithm is refused.',
    }),
    setting({
      kind: 'url',
      name: 'jwks_uri',
      label: 'Address of its public keys (jwks_uri)',
      value: settings.jwks_uri,
      hint: 'The application can then change its keys without an administrator. https, or http on localhost.',
    }),
    setting({
      kind: 'long',
      name: 'jwks',
      label: 'Its public keys (jwks)',
      value: settings.jwks === undefined ? '' : JSON.stringify(settings.jwks, null, 2),
      rows: 8,
      hint: 'A JSON Web Key Set, {"keys": […]}, of public keys only; where there is no address.',
    }),
    ...SUBJECTS.map(([name, label, hint]) =>
      setting({
        kind: 'line' as const,
        name,
        label,
        value: settings[name],
        hint,
        group: 'Its certificate names (tls_client_auth): one of',
      }),
    ),
  ],
  facts: ({ settings }) => [
    { label: 'Client authentication', value: labelled(METHODS, settings.token_endpoint_auth_method) },
    { label: 'Client assertion algorithm', value: labelled(ASSERTION_ALGS, settings.token_endpoint_auth_signing_alg ?? '') },
    { label: 'Its certificate names', value: code(SUBJECTS.map(([name]) => settings[name]).find((value) => value !== undefined)) },
    { label: 'Address of its public keys', value: code(settings.jwks_uri) },
    {
      label: 'Public keys',
      value: (settings.jwks?.keys ?? []).map(
        ({ kid, kty }): Piece => ({ text: `${String(kty)} ${String(kid ?? 'without kid')}`, code: true }),
      ),
    },
  ],
};
