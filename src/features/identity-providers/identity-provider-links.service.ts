/** Links between subjects of external identity providers and users. Only a link identifies the user, regardless of later e-mail addresses. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inPages, type Page, type Window } from '../../platform/database/paging.ts';
import { conflict, notFound, requireFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import type { IdentityProvider, IdentityProviderLink } from './identity-providers.resource.ts';
import { identityProviderTarget } from './identity-providers.service.ts';
import {
  deleteLink,
  findIdentityLink,
  findIdentityProvider,
  insertIdentityLink,
  type LinkedUser,
  listLinks,
  listLinksOf,
  lockIdentityProvider,
  type NamedLink,
} from './identity-providers.store.ts';

/** Oldest first. @throws {ApiError} not found */
export async function listLinkedUsers({ database }: Services, idpId: string, window: Window): Promise<Page<LinkedUser>> {
  const { knex } = database;
  demand(await findIdentityProvider(knex, idpId), idpId);
  return listLinks(knex, idpId, window);
}

/** Links of a user to identity providers, oldest first. @throws {ApiError} not found */
export async function listUserLinks(
  { database: { knex } }: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<NamedLink>> {
  return inPages(await listLinksOf(knex, (await findVisibleUser(knex, idOrLogin, request)).id), window);
}

/** @throws {ApiError} not found: the provider, the user or the link */
export async function getLink(
  { database }: Services,
  idpId: string,
  idOrLogin: string,
  request: RequestContext,
): Promise<IdentityProviderLink> {
  const { knex } = database;
  demand(await findIdentityProvider(knex, idpId), idpId);
  const { id } = await findVisibleUser(knex, idOrLogin, request);
  return requireFound(await findIdentityLink(knex, idpId, id), idOrLogin, 'IdentityProviderUser');
}

/**
 * Linking again is not an error.
 * @param subject ID of the user at the provider
 * @throws {ApiError} not found: the provider or the user; conflict: either is linked to another one
 */
export async function linkUser(
  services: Services,
  idpId: string,
  idOrLogin: string,
  subject: string,
  request: RequestContext,
): Promise<IdentityProviderLink> {
  return services.database.transaction(async (trx) => {
    const [provider, user] = await lockBoth(trx, idpId, idOrLogin, request);
    const link = { idpId, subject, userId: user.id, knownAs: null, created: present(), lastUsed: null };
    if (await insertIdentityLink(trx, link)) {
      await recordLink(trx, 'link', provider, user, subject, request);
      return link;
    }
    const kept = await findIdentityLink(trx, idpId, user.id);
    if (kept === undefined) throw conflict({ field: 'externalId', message: 'is already linked to another user. Unlink it there first' });
    if (kept.subject !== subject)
      throw conflict({
        field: 'externalId',
        message: 'the user is already linked to another account of this identity provider. Unlink it first',
      });
    return kept;
  });
}

/** @throws {ApiError} not found: the provider, the user or the link */
export async function unlinkUser(services: Services, idpId: string, idOrLogin: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const [provider, user] = await lockBoth(trx, idpId, idOrLogin, request);
    const link = requireFound(await findIdentityLink(trx, idpId, user.id), idOrLogin, 'IdentityProviderUser');
    await deleteLink(trx, idpId, user.id);
    await recordLink(trx, 'unlink', provider, user, link.subject, request);
  });
}

function demand(provider: IdentityProvider | undefined, id: string): IdentityProvider {
  if (provider === undefined) throw notFound(id, 'IdentityProvider');
  return provider;
}

const lockBoth = async (trx: Executor, idpId: string, idOrLogin: string, request: RequestContext): Promise<[IdentityProvider, User]> => [
  demand(await lockIdentityProvider(trx, idpId), idpId),
  await lockChangeableUser(trx, idOrLogin, request),
];

export const recordLink = (
  trx: Executor,
  change: 'link' | 'unlink',
  provider: Pick<IdentityProvider, 'id' | 'name'>,
  user: Pick<User, 'id' | 'login'>,
  externalId: string,
  request: RequestContext,
): Promise<string> =>
  recordEvent(trx, {
    eventType: `user.identity_provider.${change}`,
    displayMessage: change === 'link' ? 'Link user to identity provider' : 'Unlink user from identity provider',
    request,
    targets: [userTarget(user), identityProviderTarget(provider)],
    [change === 'link' ? 'after' : 'before']: { idpId: provider.id, userId: user.id, externalId },
  });
