/** Settings of an application that Okta's Terraform provider always sends and reads. Each has a fixed value here. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../api/endpoint.ts';
import { idParams } from '../../../api/fields.ts';
import { oktaDefault } from '../../../platform/validation/okta-default.ts';
import { getApplication } from '../applications.service.ts';

/** Defaults of `settings.oauthClient`. */
export const OKTA_CLIENT_DEFAULTS = {
  idp_initiated_login: z.strictObject({ mode: oktaDefault('DISABLED'), default_scope: z.array(z.string()).max(0).optional() }).optional(),
  issuer_mode: oktaDefault('ORG_URL'),
  wildcard_redirect: oktaDefault('DISABLED'),
};

/** Returned only to Okta's clients: the provider would otherwise set them repeatedly. */
export const OKTA_CLIENT = { issuer_mode: 'ORG_URL', wildcard_redirect: 'DISABLED' } as const;

type ClientBody = Record<keyof typeof OKTA_CLIENT_DEFAULTS, unknown> & {
  readonly application_type?: string | undefined;
  readonly redirect_uris?: readonly string[] | undefined;
  readonly response_types?: readonly string[] | undefined;
};

/** Removes Okta's defaults. Okta's service applications have a response type that nothing uses. */
export function withoutOktaDefaults<T extends Partial<ClientBody>>(sent: T) {
  const { idp_initiated_login: _, issuer_mode: __, wildcard_redirect: ___, ...stored } = sent;
  const { application_type: type, redirect_uris: uris = [], response_types: types = [] } = sent;
  const isUnused = type === 'service' && uris.length === 0 && types.length === 1 && types[0] === 'token';
  return isUnused ? { ...stored, response_types: [] } : stored;
}

const none = z.literal('').optional().meta({ description: 'Must be empty. Use oauthClient.id_token_claims instead' });
const issuerMode = z.literal('ORG_URL');

/** The provider sets the groups claim of each application by a path that Okta does not document. */
export const applicationIdToken: Endpoint = endpoint({
  method: 'POST',
  path: '/internal/apps/:id/settings/oauth/idToken',
  access: 'service',
  summary: "Accept the ID token settings that Okta's Terraform provider always sends. Nothing is stored",
  params: idParams,
  body: z.strictObject({ issuerMode: issuerMode.optional(), name: none, value: none, valueType: none }),
  response: z.object({ issuerMode }),
  handler: async ({ services, params }) => {
    await getApplication(services, params.id);
    return { issuerMode: 'ORG_URL' as const };
  },
});
