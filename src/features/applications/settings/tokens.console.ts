/** Token settings of an application, including the tokens that it may introspect. */

import type { Option } from '../../../pages/console/form.ts';
import { counted, phrase } from '../../../platform/i18n/phrase.ts';
import { codes, labelled, lines, type SettingGroup, setting, yes } from '../setting-group.console.ts';
import { targetLines } from './id-jag-targets.console.ts';

const CLAIMS: readonly Option[] = [
  { value: 'all', label: 'All that the granted scopes allow' },
  { value: 'some', label: 'Only these' },
];
const ROTATIONS: readonly Option[] = [
  { value: 'ROTATE', label: 'Rotate at each use', hint: 'Detects stolen tokens: a second use revokes all of them.' },
  { value: 'STATIC', label: 'Keep the same token', hint: 'For libraries that cannot keep a new one.' },
];

export const tokenSettings: SettingGroup = {
  id: 'tokens',
  title: 'Tokens',
  tab: 'settings',
  fields: ({ id, settings }) => [
    {
      kind: 'radios',
      name: 'claims',
      label: 'Claims in ID tokens',
      options: CLAIMS,
      value: settings.id_token_claims === undefined ? 'all' : 'some',
      group: 'ID token',
    },
    setting({
      kind: 'lines',
      name: 'id_token_claims',
      when: { field: 'claims', value: 'some' },
      label: 'Claims',
      value: lines(settings.id_token_claims),
      hint: 'Names of claims about the user, one per line, e.g. email. What the protocol itself needs (sub, aud, exp …) is always there.',
      group: 'ID token',
    }),
    setting({
      kind: 'check',
      name: 'dpop_bound_access_tokens',
      label: 'Access tokens are bound to a key (DPoP)',
      checked: settings.dpop_bound_access_tokens === true,
      hint: 'A stolen access token is useless. The application’s library and its APIs must support DPoP.',
      group: 'Access token',
    }),
    setting({
      kind: 'check',
      name: 'tls_client_certificate_bound_access_tokens',
      label: 'Access tokens are bound to its certificate (mutual TLS)',
      checked: settings.tls_client_certificate_bound_access_tokens === true,
      hint: 'For applications that show a certificate to the proxy in front. Not together with DPoP.',
      group: 'Access token',
    }),
    {
      kind: 'radios',
      name: 'rotation_type',
      label: 'Refresh tokens',
      options: ROTATIONS,
      value: settings.refresh_token.rotation_type,
      alias: ['refresh_token', 'refresh_token.rotation_type'],
      group: 'Refresh token',
    },
    {
      kind: 'duration',
      unit: 'second',
      name: 'leeway',
      label: 'Leeway',
      when: { field: 'rotation_type', value: 'ROTATE' },
      value: String(settings.refresh_token.leeway),
      alias: 'refresh_token.leeway',
      hint: 'A used token can be repeated for this long after a lost response, 0 to 60. 30 is safe.',
      group: 'Refresh token',
    },
    setting({
      kind: 'check',
      name: 'introspect_any',
      label: 'Can introspect other applications’ tokens',
      checked: settings.introspect_any,
      hint: 'For APIs that check their callers’ access tokens at the introspection endpoint. Leave it off otherwise.',
      group: 'Introspection',
    }),
    setting({
      kind: 'check',
      name: 'manage_signal_streams',
      label: 'Can manage its own signal streams',
      checked: settings.manage_signal_streams === true,
      hint: 'The application learns of revoked sessions, changed credentials and disabled accounts of all users (Shared Signals Framework).',
      group: 'Signals',
    }),
    setting({
      kind: 'lines',
      name: 'token_exchange_audiences',
      label: 'APIs that it is',
      value: lines(settings.token_exchange_audiences),
      hint: 'Audiences, one per line. The application can exchange access tokens for these APIs, in addition to its own tokens.',
      group: 'Token exchange',
      advanced: true,
    }),
    setting({
      kind: 'lines',
      name: 'id_jag_targets',
      label: 'ID-JAG targets',
      value: targetLines({ id, settings }).join('\n'),
      hint: 'Issuers of other authorization servers, one per line. The application gets ID-JAGs for them. After spaces can follow its client ID there, and the client ID of that server here.',
      group: 'Token exchange',
      advanced: true,
    }),
    setting({
      kind: 'lines',
      name: 'authorization_details_types',
      label: 'Authorization detail types',
      value: lines(settings.authorization_details_types),
      hint: 'Names, one per line. The application can ask for authorization details of these types (RFC 9396).',
      advanced: true,
    }),
  ],
  facts: ({ id, settings }) => [
    {
      label: 'Claims in ID tokens',
      value: settings.id_token_claims === undefined ? phrase('All that the granted scopes allow') : codes(settings.id_token_claims),
    },
    { label: 'Access tokens are bound to a key (DPoP)', value: yes(settings.dpop_bound_access_tokens) },
    { label: 'Access tokens are bound to its certificate (mutual TLS)', value: yes(settings.tls_client_certificate_bound_access_tokens) },
    { label: 'Refresh tokens', value: labelled(ROTATIONS, settings.refresh_token.rotation_type) },
    { label: 'Leeway', value: counted(settings.refresh_token.leeway, '{count} second', '{count} seconds') },
    { label: 'Can introspect other applications’ tokens', value: yes(settings.introspect_any) },
    { label: 'Can manage its own signal streams', value: yes(settings.manage_signal_streams) },
    { label: 'APIs that it is', value: codes(settings.token_exchange_audiences) },
    { label: 'ID-JAG targets', value: codes(targetLines({ id, settings })) },
    { label: 'Authorization detail types', value: codes(settings.authorization_details_types) },
  ],
};
