/** `authorizationServers/{id}/authorizationDetailTypes`: what applications can ask for in the parameter authorization_details (RFC 9396). */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { idParams, links } from '../../api/fields.ts';
import { bodyShape, presentValues, responseShape, valuesIn } from '../../platform/validation/resource.ts';
import { text } from '../../platform/validation/text.ts';
import { DETAIL_TYPE_SETTINGS, type DetailType } from './detail-types.resource.ts';
import {
  createServerDetailType,
  deleteServerDetailType,
  getServerDetailType,
  listServerDetailTypes,
  updateServerDetailType,
} from './detail-types.service.ts';

const detailTypeBody = z.strictObject(bodyShape(DETAIL_TYPE_SETTINGS));
const detailType = z.object({ id: z.string(), ...responseShape(DETAIL_TYPE_SETTINGS), _links: links });
const valuesOf = (body: z.output<typeof detailTypeBody>) => valuesIn(DETAIL_TYPE_SETTINGS, body);

export const authorizationDetailTypes = collection({
  path: '/authorizationServers/:id/authorizationDetailTypes',
  params: idParams,
  idParam: 'typeId',
  access: 'service',
  summaries: {
    create: 'Create an authorization detail type of an authorization server',
    list: 'List the authorization detail types of an authorization server, oldest first; q is the start of the name',
    read: 'Read an authorization detail type of an authorization server',
    replace: 'Replace an authorization detail type of an authorization server',
    remove: "Delete an authorization detail type of an authorization server; users' consents to it are deleted, too",
  },
  query: { q: text().optional() },
  body: detailTypeBody,
  response: detailType,
  create: ({ services, params, request }, body) => createServerDetailType(services, params.id, valuesOf(body), request),
  list: ({ services, params }, { q, ...window }) => listServerDetailTypes(services, params.id, q, window),
  read: ({ services, params }, id) => getServerDetailType(services, params.id, id),
  replace: ({ services, params, request }, id, body) => updateServerDetailType(services, params.id, id, valuesOf(body), request),
  remove: ({ services, params, request }, id) => deleteServerDetailType(services, params.id, id, request),
  present: ({ id, ...settings }: DetailType, { services, params }) => ({
    ...presentValues(DETAIL_TYPE_SETTINGS, settings),
    id,
    _links: { self: { href: `${services.config.baseUrl}/api/v1/authorizationServers/${params.id}/authorizationDetailTypes/${id}` } },
  }),
});
