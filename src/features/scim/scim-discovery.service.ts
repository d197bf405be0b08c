/** Discovery: ServiceProviderConfig, Schemas and ResourceTypes (RFC 7643 sections 5 to 7). */
import type { Services } from '../../platform/database/dependencies.ts';
import {
  ADDED_SCHEMA_ID,
  GROUP_TYPE,
  type ScimAttribute,
  type ScimObject,
  type ScimSchema,
  type ScimType,
} from './scim-attributes.policy.ts';
import { type ScimCaller, seesGroups } from './scim-caller.policy.ts';
import { MOST_RESULTS, SCIM_BASE } from './scim-resources.service.ts';
import { currentUserType } from './scim-users.service.ts';

export const MOST_BULK_OPERATIONS = 100;
/** Bytes. */
export const LARGEST_BODY = 1024 * 1024;

const addressOf = ({ config }: Services, path: string): string => `${config.baseUrl}${SCIM_BASE}/${path}`;

export const serviceProviderConfig = (services: Services): ScimObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  documentationUri: `${services.config.baseUrl}/docs/reference/scim`,
  patch: { supported: true },
  bulk: { supported: true, maxOperations: MOST_BULK_OPERATIONS, maxPayloadSize: LARGEST_BODY },
  filter: { supported: true, maxResults: MOST_RESULTS },
  changePassword: { supported: true },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token of type SCIM, made in the console under API, Token',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: addressOf(services, 'ServiceProviderConfig') },
});

const typesFor = async (services: Services, caller: ScimCaller): Promise<readonly ScimType[]> => [
  await currentUserType(services),
  ...(seesGroups(caller) ? [GROUP_TYPE] : []),
];

/** The resource types that the caller can use. */
export async function resourceTypes(services: Services, caller: ScimCaller): Promise<readonly ScimObject[]> {
  return (await typesFor(services, caller)).map(({ name, core, extensions }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    description: core.description,
    schema: core.id,
    ...(extensions.length > 0 && {
      schemaExtensions: extensions.map(({ id, attributes }) => ({ schema: id, required: isRequired(id, attributes) })),
    }),
    meta: { resourceType: 'ResourceType', location: addressOf(services, `ResourceTypes/${name}`) },
  }));
}

const isRequired = (id: string, attributes: readonly ScimAttribute[]): boolean =>
  id === ADDED_SCHEMA_ID && attributes.some(({ required }) => required === true);

/** The schemas of the resource types that the caller can use. */
export async function scimSchemas(services: Services, caller: ScimCaller): Promise<readonly ScimObject[]> {
  const types = await typesFor(services, caller);
  return types.flatMap(({ core, extensions }) => [core, ...extensions]).map((schema) => presentSchema(services, schema, caller));
}

const presentSchema = (services: Services, { id, name, description, attributes }: ScimSchema, caller: ScimCaller): ScimObject => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  description,
  attributes: attributes.filter((one) => one.isCommon !== true && (seesGroups(caller) || one.name !== 'groups')).map(presentAttribute),
  meta: { resourceType: 'Schema', location: addressOf(services, `Schemas/${id}`) },
});

/** Every characteristic is included, even with its default value (RFC 7643 section 2.2). */
function presentAttribute(attribute: ScimAttribute): ScimObject {
  const { name, type, description, canonicalValues, referenceTypes, subAttributes } = attribute;
  return {
    name,
    type,
    multiValued: attribute.multiValued ?? false,
    description,
    required: attribute.required ?? false,
    ...(canonicalValues !== undefined && { canonicalValues }),
    caseExact: attribute.caseExact ?? type === 'reference',
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(referenceTypes !== undefined && { referenceTypes }),
    ...(subAttributes !== undefined && { subAttributes: subAttributes.map(presentAttribute) }),
  };
}
