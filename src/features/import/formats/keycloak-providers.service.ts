/** Identity providers of a realm that Keycloak exported. */
import { z } from 'zod';
import { parse } from '../../../platform/validation/parsing.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { isHidden } from './keycloak-clients.service.ts';

const keycloakProvider = z.looseObject({
  alias: z.string(),
  providerId: z.string(),
  enabled: z.boolean().default(true),
  linkOnly: z.boolean().default(false),
  config: z.record(z.string(), z.unknown()).default({}),
});

const TYPES: Readonly<Record<string, string>> = {
  oidc: 'OIDC',
  'keycloak-oidc': 'OIDC',
  google: 'GOOGLE',
  github: 'GITHUB',
  microsoft: 'MICROSOFT',
};

const METHODS: Readonly<Record<string, string>> = { client_secret_post: 'client_secret_post', client_secret_basic: 'client_secret_basic' };

/** The alias becomes the name: links of users refer to it. */
export function providerItem(value: unknown, entry: string): ImportItem {
  let given: z.output<typeof keycloakProvider>;
  try {
    given = parse(keycloakProvider, value);
  } catch (error) {
    return { kind: 'refused', place: { entry }, reasons: reasonsOf(error) };
  }
  const { alias, providerId, enabled, linkOnly, config } = given;
  const place = { entry: `${entry} ${alias}` };
  const type = TYPES[providerId];
  if (type === undefined)
    return { kind: 'refused', place, provider: alias, reasons: [`providerId: ${providerId} has no counterpart here`] };
  const text = (name: string): string | undefined => {
    const found = config[name];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const secret = text('clientSecret');
  if (secret !== undefined && isHidden(secret))
    return {
      kind: 'refused',
      place,
      reasons: ['config.clientSecret: is hidden in this export. Export with kc.sh export, or create the provider manually'],
    };
  const url = (name: string) => (text(name) === undefined ? undefined : { url: text(name) });
  const endpoints = { authorization: url('authorizationUrl'), token: url('tokenUrl'), userInfo: url('userInfoUrl'), jwks: url('jwksUrl') };
  const isGeneric = type === 'OIDC';
  const scopes = (text('defaultScope') ?? '').split(/\s+/).filter((scope) => scope !== '');
  const method = METHODS[text('clientAuthMethod') ?? ''];
  return {
    kind: 'provider',
    place,
    value: {
      name: alias,
      type,
      activate: enabled,
      protocol: {
        ...(isGeneric && { issuer: url('issuer'), endpoints }),
        ...(isGeneric && scopes.length > 0 && { scopes: [...new Set(['openid', ...scopes])] }),
        credentials: {
          client: { client_id: text('clientId') ?? '', client_secret: secret, ...(method && { token_endpoint_auth_method: method }) },
        },
      },
      policy: { provisioning: { action: linkOnly ? 'DISABLED' : 'AUTO' } },
    },
  };
}
