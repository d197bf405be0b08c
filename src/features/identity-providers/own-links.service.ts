/** A user's accounts at external identity providers, connected and disconnected by the user. The caller has checked that the sign-in is recent. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { waysToSignIn } from '../sign-in/ways-to-sign-in.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import { recordLink } from './identity-provider-links.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { identityProviderTarget } from './identity-providers.service.ts';
import {
  deleteLink,
  findIdentityLink,
  findLinkOfSubject,
  insertIdentityLink,
  listConnectableProviders,
  listLinksOf,
  lockIdentityProvider,
  type NamedLink,
} from './identity-providers.store.ts';
import { knownAs } from './upstream-claims.policy.ts';
import type { UpstreamIdentity } from './upstream-exchange.service.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';

export interface OwnLinks {
  readonly connected: readonly NamedLink[];
  /** Active providers without an account of the user. */
  readonly others: readonly Pick<IdentityProvider, 'id' | 'name'>[];
}

/** Oldest first. */
export async function ownLinks({ database: { knex } }: Services, userId: string): Promise<OwnLinks> {
  const connected = await listLinksOf(knex, userId);
  const active = await listConnectableProviders(knex, userId);
  return { connected, others: active.filter(({ id }) => connected.every(({ idpId }) => idpId !== id)) };
}

/** Is the user's account there required, or their only way to sign in? */
export async function isOnlyWay(
  services: Services,
  executor: Executor,
  user: User,
  idpId: string,
  request: RequestContext,
): Promise<boolean> {
  if ((await findRequiredProvider(executor, user.id))?.id === idpId) return true;
  return (await waysToSignIn(services, executor, user, request, idpId)).length === 0;
}

/**
 * One account per provider. Connecting again is not an error.
 * @param identity authenticated by the provider in the user's own browser
 * @throws {UpstreamFailure}
 */
export async function connectOwn(
  { database }: Services,
  idpId: string,
  identity: UpstreamIdentity,
  userId: string,
  request: RequestContext,
): Promise<void> {
  await database.transaction(async (trx) => {
    const provider = await lockIdentityProvider(trx, idpId);
    if (provider?.status !== 'ACTIVE') throw new UpstreamFailure('not-offered', 'IDP_NOT_ACTIVE');
    const user = await lockUser(trx, userId);
    if (user?.status !== 'ACTIVE') throw new UpstreamFailure('not-admitted', 'USER_NOT_ACTIVE');
    const { subject, claims, email } = identity;
    const link = { idpId, subject, userId, knownAs: knownAs(claims, email), created: present(), lastUsed: null };
    if (await insertIdentityLink(trx, link)) return recordLink(trx, 'link', provider, user, subject, asUser(request, user));
    const taken = await findLinkOfSubject(trx, idpId, subject);
    if (taken === undefined) throw new UpstreamFailure('linked-already', 'USER_LINKED_TO_ANOTHER');
    if (taken.userId !== userId) throw new UpstreamFailure('linked-elsewhere', 'SUBJECT_LINKED_TO_ANOTHER');
  });
}

/** @returns false if there is no such link @throws {UpstreamFailure} it is their last way to sign in */
export async function disconnectOwn(services: Services, idpId: string, userId: string, request: RequestContext): Promise<boolean> {
  if (!isPrintable(idpId)) return false;
  return services.database.transaction(async (trx) => {
    const provider = await lockIdentityProvider(trx, idpId);
    const user = await lockUser(trx, userId);
    if (provider === undefined || user === undefined) return false;
    const link = await findIdentityLink(trx, idpId, userId);
    if (link === undefined) return false;
    if (await isOnlyWay(services, trx, user, idpId, request)) throw new UpstreamFailure('last-way', 'LAST_WAY_TO_SIGN_IN');
    await deleteLink(trx, idpId, userId);
    await recordLink(trx, 'unlink', provider, user, link.subject, asUser(request, user));
    return true;
  });
}

/** Records that a user could not connect an account. */
export async function recordConnectionFailure(
  { database }: Services,
  provider: Pick<IdentityProvider, 'id' | 'name'>,
  { reason }: UpstreamFailure,
  user: Pick<User, 'id' | 'login'>,
  request: RequestContext,
): Promise<void> {
  await database.transaction((trx) =>
    recordEvent(trx, {
      eventType: 'user.identity_provider.link',
      displayMessage: 'Link user to identity provider',
      request: asUser(request, user),
      targets: [userTarget(user), identityProviderTarget(provider)],
      failure: reason,
    }),
  );
}
