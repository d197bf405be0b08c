/** `authorizationServers/{id}/scopes`, as Okta's Authorization Servers API shows them (its OAuth2Scope). */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, unlessEmpty } from '../../api/fields.ts';
import { text } from '../../platform/validation/text.ts';
import { scopeFields } from '../authorization-servers/authorization-server-fields.service.ts';
import type { Scope } from './scopes.resource.ts';
import {
  createServerScope,
  deleteServerScope,
  getServerScope,
  listServerScopes,
  type ScopeSettings,
  updateServerScope,
} from './scopes.service.ts';

const { consent, metadataPublish } = scopeFields;

const scopeBody = z.strictObject({
  name: scopeFields.name,
  displayName: scopeFields.displayName.nullish(),
  description: scopeFields.description.nullish(),
  /** IMPLICIT unless given. */
  consent: consent.exactOptional(),
  /** Granted where a request names no scope. */
  default: z.boolean().exactOptional(),
  /** May be left out on the consent dialog. */
  optional: z.boolean().exactOptional(),
  /** NO_CLIENTS: discovery does not name it. */
  metadataPublish: metadataPublish.exactOptional(),
});

const scope = z.object({
  id: z.string(),
  name: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  consent,
  default: z.boolean(),
  optional: z.boolean(),
  /** A standard scope: neither renamed nor deleted. */
  system: z.boolean(),
  metadataPublish,
  _links: links,
});

const scopeParams = idParams.extend({ scopeId: z.string().min(1) });
const path = '/authorizationServers/:id/scopes';

export const authorizationServerScopes: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    access: 'service',
    summary: 'Create a scope of an authorization server',
    params: idParams,
    body: scopeBody,
    response: scope,
    status: 201,
    handler: async ({ services, params, body, request }) =>
      present(await createServerScope(services, params.id, settingsOf(body), request), params.id, services.config.baseUrl),
  }),
  listing({
    path,
    access: 'service',
    summary: 'List the scopes of an authorization server, oldest first; q is what the name begins with',
    params: idParams,
    query: { q: text().optional() },
    item: scope,
    handler: async ({ services, params, query: { q, ...window } }) => {
      const { items, next } = await listServerScopes(services, params.id, q, window);
      return { items: items.map((found) => present(found, params.id, services.config.baseUrl)), next };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:scopeId`,
    access: 'service',
    summary: 'Read a scope of an authorization server',
    params: scopeParams,
    response: scope,
    handler: async ({ services, params }) =>
      present(await getServerScope(services, params.id, params.scopeId), params.id, services.config.baseUrl),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:scopeId`,
    access: 'service',
    summary: 'Replace a scope of an authorization server',
    params: scopeParams,
    body: scopeBody,
    response: scope,
    handler: async ({ services, params, body, request }) =>
      present(await updateServerScope(services, params.id, params.scopeId, settingsOf(body), request), params.id, services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:scopeId`,
    access: 'service',
    summary: 'Delete a scope of an authorization server that no claim and no rule names',
    params: scopeParams,
    handler: async ({ services, params, request }) => {
      await deleteServerScope(services, params.id, params.scopeId, request);
      return undefined;
    },
  }),
];

const settingsOf = (body: z.output<typeof scopeBody>): ScopeSettings => ({
  name: body.name,
  displayName: body.displayName ?? '',
  description: body.description ?? '',
  consent: body.consent ?? 'IMPLICIT',
  isDefault: body.default ?? false,
  optional: body.optional ?? false,
  metadataPublish: body.metadataPublish ?? 'ALL_CLIENTS',
});

const present = ({ isDefault, ...found }: Scope, serverId: string, baseUrl: string): z.input<typeof scope> => ({
  ...found,
  description: unlessEmpty(found.description),
  default: isDefault,
  _links: { self: { href: `${baseUrl}/api/v1/authorizationServers/${serverId}/scopes/${found.id}` } },
});
