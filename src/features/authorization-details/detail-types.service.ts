/**
 * Operations on authorization details types of a server (RFC 9396). A change takes effect with the next request, in other processes within a second.
 */

import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, validation } from '../../platform/errors/errors.ts';
import { jsonProblem } from '../../platform/validation/json-value.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { changeServerPart, refuseOneMore } from '../authorization-servers/authorization-server-parts.service.ts';
import { getAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import { forgetDetailType } from '../consents/consents.store.ts';
import { detailSchemaProblem } from './detail-schema.service.ts';
import type { DetailType, DetailTypeSettings } from './detail-types.resource.ts';
import {
  deleteDetailType,
  findDetailType,
  insertDetailType,
  listDetailTypes,
  readDetailTypes,
  updateDetailType,
} from './detail-types.store.ts';
import { type AuthorizationDetail, isListOfTexts, isText, LISTS } from './details.policy.ts';
import { templateProblem } from './shown-details.policy.ts';

/** Oldest first. @param q words of the names @throws {ApiError} not found */
export async function listServerDetailTypes(
  services: Services,
  serverId: string,
  q: string | undefined,
  window: Window,
): Promise<Page<DetailType>> {
  await getAuthorizationServer(services, serverId);
  return readDetailTypes(services.database.knex, serverId, q, window);
}

/** @throws {ApiError} not found: the server or the type */
export async function getServerDetailType(services: Services, serverId: string, id: string): Promise<DetailType> {
  await getAuthorizationServer(services, serverId);
  return requireDetailType(services.database.knex, serverId, id);
}

/** @throws {ApiError} not found, wrong state of the built-in server, validation, conflict of the name */
export async function createServerDetailType(
  services: Services,
  serverId: string,
  settings: DetailTypeSettings,
  request: RequestContext,
): Promise<DetailType> {
  requireSound(settings);
  const type = { ...settings, id: newId('adt') };
  return changeServerPart(services, serverId, {}, async (trx) => {
    refuseOneMore('authorization detail types', await listDetailTypes(trx, serverId));
    if (!(await insertDetailType(trx, serverId, type))) throw nameTaken();
    await record(trx, 'created', request, { after: type });
    return type;
  });
}

/** A renamed type is a different type: consents to the old name are deleted. @throws {ApiError} as `createServerDetailType` */
export async function updateServerDetailType(
  services: Services,
  serverId: string,
  id: string,
  settings: DetailTypeSettings,
  request: RequestContext,
): Promise<DetailType> {
  requireSound(settings);
  return changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requireDetailType(trx, serverId, id);
    if (!(await updateDetailType(trx, id, settings))) throw nameTaken();
    if (settings.name !== before.name) await forgetDetailType(trx, serverId, before.name);
    const after = { ...before, ...settings };
    await record(trx, 'updated', request, { before, after });
    return after;
  });
}

/** Deletes consents for the type; refreshed tokens no longer contain it. @throws {ApiError} not found */
export async function deleteServerDetailType(services: Services, serverId: string, id: string, request: RequestContext): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requireDetailType(trx, serverId, id);
    await deleteDetailType(trx, id);
    await forgetDetailType(trx, serverId, before.name);
    await record(trx, 'deleted', request, { before });
  });
}

const requireDetailType = async (executor: Executor, serverId: string, id: string): Promise<DetailType> =>
  requireFound(await findDetailType(executor, serverId, id), id, 'AuthorizationDetailType');

function requireSound({ schema, template, translations }: DetailTypeSettings): void {
  const templates = Object.entries(translations).map(([lang, own]) => [`translations.${lang}.template`, own?.template ?? ''] as const);
  const problems = [
    ['schema', detailSchemaProblem(schema)] as const,
    ...[['template', template] as const, ...templates].map(([field, text]) => [field, templateProblem(text)] as const),
  ].flatMap(([field, message]) => (message === undefined ? [] : [{ field, message }]));
  if (problems.length > 0) throw validation(problems);
}

function record(
  trx: Executor,
  step: 'created' | 'updated' | 'deleted',
  request: RequestContext,
  { before, after }: { before?: DetailType; after?: DetailType },
): Promise<string> {
  const { id = '', name = '' } = after ?? before ?? {};
  return recordEvent(trx, {
    eventType: `oauth2.authorization_detail_type.${step}`,
    displayMessage: `Authorization detail type is ${step}`,
    request,
    targets: [{ id, type: 'AuthorizationDetailType', displayName: name }],
    ...(before && { before }),
    ...(after && { after }),
  });
}

const nameTaken = () =>
  conflict({ field: 'name', message: 'another authorization detail type of this authorization server has this name. Choose another name' });

// Parses the parameter authorization_details (RFC 9396 section 2) and checks its size and shape.

/** Maximum characters of the parameter. */
const LONGEST_DETAILS = 8192;
export const MOST_DETAILS = 20;
/** Maximum nesting of one detail. */
const DEPTH = 10;

type Read = { readonly details: readonly AuthorizationDetail[] } | { readonly problem: string };

/** @param value of the parameter; undefined: absent @returns the details, or their problem */
export function readDetails(value: unknown): Read {
  if (value === undefined || value === '') return { details: [] };
  if (typeof value !== 'string') return { problem: 'must not be repeated' };
  if (value.length > LONGEST_DETAILS) return { problem: `must not be longer than ${LONGEST_DETAILS} characters` };
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return { problem: 'must be JSON' };
  }
  if (!Array.isArray(parsed)) return { problem: 'must be a JSON array' };
  if (parsed.length > MOST_DETAILS) return { problem: `must not have more than ${MOST_DETAILS} objects` };
  for (const [index, one] of parsed.entries()) {
    const problem = shapeProblem(one);
    if (problem !== undefined) return { problem: `${index}: ${problem}` };
  }
  return { details: parsed as AuthorizationDetail[] };
}

function shapeProblem(one: unknown): string | undefined {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return 'must be a JSON object';
  const problem = jsonProblem(one, DEPTH);
  if (problem !== undefined) return problem;
  const fields = one as Readonly<Record<string, unknown>>;
  if (!isText(fields.type)) return 'type must be a string';
  if ('identifier' in fields && !isText(fields.identifier)) return 'identifier must be a string';
  const list = LISTS.find((name) => name in fields && !isListOfTexts(fields[name]));
  return list === undefined ? undefined : `${list} must be a list of strings`;
}
