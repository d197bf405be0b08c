/** The settings of an authorization server as form fields, each with its effect and a safe value. */

import { LIFETIMES } from '../../../config/defaults.ts';
import { scopesIn } from '../../pages/console/candidates.ts';
import { durationOf } from '../../pages/console/durations.ts';
import type { Field, Option } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed as Submitted } from '../../pages/console/page.ts';
import { pickManyField } from '../../pages/console/picker.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { audiencesOf } from './audience.policy.ts';
import { serverFields } from './authorization-server-fields.service.ts';
import type { AuthorizationServer } from './authorization-servers.resource.ts';
import { ADDITIONAL_ALGS } from './signing-keys.policy.ts';

/** undefined: a new server. */
type Now = AuthorizationServer | undefined;

export const NAME: Field = { name: 'name', label: 'Name', hint: 'Shown to administrators.', required: true };

export const PROFILES: readonly Option[] = [
  {
    value: 'service',
    label: 'Service',
    hint: 'A state is required, of letters, digits and , . _ -; userinfo answers to tokens with profile, email, address or phone.',
  },
  {
    value: 'openid',
    label: 'OpenID Connect',
    hint: 'A state may be absent, or any printable ASCII; userinfo answers to any token with openid. Spring Security, Auth.js, oauth2-proxy, Grafana and passport-openidconnect need it. An application can choose for itself.',
  },
  {
    value: 'fapi2',
    label: 'FAPI 2.0',
    hint: 'For banks and other high risks: pushed requests, PKCE, tokens bound to a key or certificate, and applications that authenticate by a key or certificate. Needs ES256. No application can choose less.',
  },
];

export const fieldOfProfile = (now: Now): Field => ({
  name: 'profile',
  label: 'Protocol profile',
  group: 'Tokens',
  kind: 'radios',
  value: now?.profile ?? 'service',
  options: PROFILES,
});

export const fieldOfAudiences = (now: Now): Field => ({
  name: 'audiences',
  label: 'Audiences',
  kind: 'lines',
  rows: 3,
  hint: now === undefined ? phrase('{audiences} Empty: api:// and the id.', { audiences: phrase(AUDIENCES) }) : AUDIENCES,
  value: now && audiencesOf(now).join('\n'),
  ...(now !== undefined && { required: true }),
});

export const fieldOfDescription = (now: Now): Field => ({
  name: 'description',
  label: 'Description',
  kind: 'description',
  hint: 'Shown to administrators only.',
  value: now?.description,
});

export const fieldsOfTokens = (now: Now): readonly Field[] => [
  {
    name: 'accessTokenFormat',
    label: 'Format of access tokens',
    group: 'Tokens',
    kind: 'radios',
    value: now?.accessTokenFormat ?? 'jwt',
    options: [
      {
        value: 'jwt',
        label: 'JWT',
        hint: 'The API verifies it with the public keys. It is valid until it expires, even if it is revoked.',
      },
      {
        value: 'opaque',
        label: 'Opaque',
        hint: 'The API asks the introspection endpoint each time, and so learns at once of a revocation.',
      },
    ],
  },
  {
    name: 'accessTokenType',
    when: { field: 'accessTokenFormat', value: 'jwt' },
    label: 'Type of JWT access tokens',
    group: 'Tokens',
    kind: 'radios',
    value: now?.accessTokenType ?? 'at+jwt',
    options: [
      { value: 'at+jwt', label: 'at+jwt', hint: 'The standard (RFC 9068). No API can take an ID token for an access token.' },
      { value: 'JWT', label: 'JWT', hint: 'For APIs that refuse at+jwt, e.g. with the default decoder of Spring Security.' },
    ],
  },
  fieldOfProfile(now),
];

const AUDIENCES =
  'The APIs that its access tokens are for, one per line, e.g. https://api.example.com. An API must refuse tokens with another “aud”. The first is the default; a request gets others by its parameter “resource”.';

export const fieldsOfLifetimes = (now: Now): readonly Field[] => [
  {
    name: 'accessTokenLifetimeMinutes',
    label: 'Access tokens live for',
    group: 'Lifetimes',
    kind: 'duration',
    unit: 'minute',
    hint: phrase('{how} Empty: {none}.', {
      how: phrase(
        'At most one day. A stolen token works for this long, so shorter is safer. One hour is usual. A rule of an access policy can change it.',
      ),
      none: durationOf(LIFETIMES.accessToken),
    }),
    value: String((now?.accessTokenSeconds ?? LIFETIMES.accessToken) / 60),
  },
  {
    name: 'refreshTokenLifetimeMinutes',
    label: 'Refresh tokens live for',
    group: 'Lifetimes',
    kind: 'duration',
    unit: 'minute',
    hint: phrase('{how} Empty: {none}.', {
      how: phrase('Counted from the sign-in, however often it is used. Then the user signs in again. At most ten years.'),
      none: durationOf(LIFETIMES.refreshToken),
    }),
    value: String((now?.refreshTokenSeconds ?? LIFETIMES.refreshToken) / 60),
  },
];

/** The fields as typed: an empty lifetime is the default. */
export const typedServerFields = {
  ...serverFields,
  accessTokenLifetimeMinutes: serverFields.accessTokenLifetimeMinutes.default(LIFETIMES.accessToken / 60),
  refreshTokenLifetimeMinutes: serverFields.refreshTokenLifetimeMinutes.default(LIFETIMES.refreshToken / 60),
};

/** Settings for clients that no administrator created. */
export const fieldsOfClients = (now: Now): readonly Field[] => [
  {
    name: 'clientIdMetadataEnabled',
    label: 'Accept clients with client ID metadata documents',
    group: 'Unknown clients',
    advanced: true,
    kind: 'check',
    hint: 'Their client ID is an https address. AI clients such as Claude Code and VS Code use this. Users are asked each time, and see the host.',
    checked: now?.clientIdMetadata.enabled ?? false,
    alias: 'clientIdMetadata.enabled',
  },
  {
    name: 'clientIdMetadataDomains',
    when: { field: 'clientIdMetadataEnabled', value: 'true' },
    label: 'Hosts of these documents',
    group: 'Unknown clients',
    advanced: true,
    kind: 'lines',
    rows: 3,
    hint: 'One per line: example.com, or *.example.com for all hosts below it. Empty: every host.',
    value: now?.clientIdMetadata.allowedDomains.join('\n'),
    alias: ['clientIdMetadata', 'clientIdMetadata.allowedDomains'],
  },
  {
    name: 'registrationMode',
    label: 'Dynamic registration',
    group: 'Unknown clients',
    advanced: true,
    kind: 'radios',
    value: now?.registration.mode ?? 'OFF',
    options: [
      { value: 'OFF', label: 'Off', hint: 'Administrators create all applications.' },
      {
        value: 'TOKEN',
        label: 'With an initial access token',
        hint: 'Create one under Registration, and give it to the developer of the client.',
      },
      {
        value: 'OPEN',
        label: 'Open',
        hint: 'Everybody can register clients. For AI clients that know no documents. Users are always asked.',
      },
    ],
    alias: ['registration', 'registration.mode'],
  },
  {
    name: 'registrationRedirectHosts',
    label: 'Hosts of their redirect URIs',
    group: 'Unknown clients',
    advanced: true,
    kind: 'lines',
    rows: 3,
    hint: 'One per line: example.com, *.example.com, localhost or 127.0.0.1. Empty: every host.',
    value: now?.registration.allowedRedirectHosts.join('\n'),
    alias: 'registration.allowedRedirectHosts',
  },
  {
    name: 'registrationDays',
    label: 'Remove registered clients after',
    group: 'Unknown clients',
    advanced: true,
    kind: 'duration',
    unit: 'day',
    hint: 'Without a sign-in: 1 to 3650 days. Empty: never.',
    value: now === undefined ? '90' : String(now.registration.expiresAfterDays ?? ''),
    alias: 'registration.expiresAfterDays',
  },
];

/** Only for a server that exists: a new one has no scopes to choose from. */
export const fieldOfRegistrationScopes = (
  visit: ConsoleRequest,
  { id, registration }: AuthorizationServer,
  typed: Submitted,
): Promise<Field> =>
  pickManyField(
    scopesIn(visit, id),
    {
      name: 'registrationScopes',
      label: 'Scopes of registered clients',
      group: 'Unknown clients',
      advanced: true,
      what: 'scopes',
      byName: true,
      within: id,
      hint: 'If none is selected, they can get all scopes of the server.',
      ids: registration.allowedScopes,
      alias: 'registration.allowedScopes',
    },
    typed,
  );

export const fieldsOfKeys = (now: Now): readonly Field[] => [
  {
    name: 'signingAlg',
    label: 'Signing algorithm',
    group: 'Keys',
    hint: 'For access tokens, and for ID tokens of applications that choose none.',
    kind: 'radios',
    value: now?.signingAlg ?? 'RS256',
    options: [
      { value: 'RS256', label: verbatim('RS256'), hint: 'RSA with 2048 bits: every library knows it.' },
      {
        value: 'ES256',
        label: verbatim('ES256'),
        hint: 'Elliptic curve P-256: shorter tokens. Make sure that your applications and APIs support it.',
      },
      { value: 'PS256', label: verbatim('PS256'), hint: 'RSA with 2048 bits and PSS padding, as banks ask for.' },
      { value: 'EdDSA', label: verbatim('EdDSA'), hint: 'Ed25519: short and fast. Fewer libraries know it.' },
    ],
  },
  {
    name: 'additionalSigningAlgs',
    advanced: true,
    label: 'More algorithms',
    group: 'Keys',
    kind: 'checks',
    hint: 'Applications can choose among RS256, ES256 and these. A few libraries refuse a key set with keys that they do not know.',
    values: now?.additionalSigningAlgs ?? [],
    options: ADDITIONAL_ALGS.map((alg) => ({ value: alg, label: verbatim(alg) })),
  },
  {
    name: 'rotationMode',
    label: 'Rotation of the keys',
    group: 'Keys',
    kind: 'radios',
    value: now?.rotationMode ?? 'AUTO',
    options: [
      {
        value: 'AUTO',
        label: 'Automatic, every 90 days',
        hint: 'The next key is announced before it signs, so the change goes unnoticed.',
      },
      { value: 'MANUAL', label: 'Manual', hint: 'Only when an administrator rotates them. For applications that store a fixed key.' },
    ],
  },
];

/** Converts form fields that are not settings themselves into the settings of client ID metadata and registration. */
export function clientsIn(typed: Typed) {
  const { clientIdMetadataEnabled: enabled, clientIdMetadataDomains: allowedDomains, ...more } = typed;
  const { registrationMode: mode, registrationRedirectHosts: allowedRedirectHosts, ...others } = more;
  const { registrationScopes: allowedScopes, registrationDays: expiresAfterDays = null, ...rest } = others;
  return {
    ...rest,
    clientIdMetadata: { enabled, allowedDomains },
    registration: { mode, allowedRedirectHosts, allowedScopes, expiresAfterDays },
  };
}

type Typed = Readonly<Record<string, unknown>>;

/** Converts the form's minutes to seconds. */
export const settingsIn = <T extends { readonly accessTokenLifetimeMinutes: number; readonly refreshTokenLifetimeMinutes: number }>({
  accessTokenLifetimeMinutes: access,
  refreshTokenLifetimeMinutes: refresh,
  ...settings
}: T) => ({ ...settings, accessTokenSeconds: access * 60, refreshTokenSeconds: refresh * 60 });
