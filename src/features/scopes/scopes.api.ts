/** `authorizationServers/{id}/scopes`, as Okta's Authorization Servers API shows them (its OAuth2Scope). */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { idParams, links } from '../../api/fields.ts';
import { bodyShape, presentValues, responseShape, valuesIn } from '../../platform/validation/resource.ts';
import { text } from '../../platform/validation/text.ts';
import { SCOPE_SETTINGS, type Scope } from './scopes.resource.ts';
import { createServerScope, deleteServerScope, getServerScope, listServerScopes, updateServerScope } from './scopes.service.ts';

const scopeBody = z.strictObject(bodyShape(SCOPE_SETTINGS));
const scope = z.object({ id: z.string(), ...responseShape(SCOPE_SETTINGS), system: z.boolean(), _links: links });
const valuesOf = (body: z.output<typeof scopeBody>) => valuesIn(SCOPE_SETTINGS, body);

export const authorizationServerScopes = collection({
  path: '/authorizationServers/:id/scopes',
  params: idParams,
  idParam: 'scopeId',
  access: 'service',
  summaries: {
    create: 'Create a scope of an authorization server',
    list: 'List the scopes of an authorization server, oldest first; q is the start of the name',
    read: 'Read a scope of an authorization server',
    replace: 'Replace a scope of an authorization server',
    remove: 'Delete a scope of an authorization server that no claim and no rule names',
  },
  query: { q: text().optional() },
  body: scopeBody,
  response: scope,
  create: ({ services, params, request }, body) => createServerScope(services, params.id, valuesOf(body), request),
  list: ({ services, params }, { q, ...window }) => listServerScopes(services, params.id, q, window),
  read: ({ services, params }, id) => getServerScope(services, params.id, id),
  replace: ({ services, params, request }, id, body) => updateServerScope(services, params.id, id, valuesOf(body), request),
  remove: ({ services, params, request }, id) => deleteServerScope(services, params.id, id, request),
  present: ({ id, system, ...settings }: Scope, { services, params }) => ({
    ...presentValues(SCOPE_SETTINGS, settings),
    id,
    system,
    _links: { self: { href: `${services.config.baseUrl}/api/v1/authorizationServers/${params.id}/scopes/${id}` } },
  }),
});
