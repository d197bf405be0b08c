/**
 * Reads users, roles, groups, assignments, consents, identity providers and keys for the protocol. Every lookup reports "temporarily unavailable" if
 * the database is down.
 */
import { findRights } from '../../features/administrators/roles.store.ts';
import { isAssigned } from '../../features/applications/application-assignments.store.ts';
import { findSigningKey } from '../../features/authorization-servers/signing-keys.store.ts';
import { readBelongings } from '../../features/claims/claims.store.ts';
import type { ConsentKey } from '../../features/consents/consents.resource.ts';
import { rememberedScopes } from '../../features/consents/consents.store.ts';
import { listGroupIds } from '../../features/groups/groups.store.ts';
import {
  findIdentityProvider,
  findLinkOfSubject,
  listTrustedProviders,
} from '../../features/identity-providers/identity-providers.store.ts';
import { findRequiredProvider } from '../../features/organization-providers/home-realm.store.ts';
import { listSignInOrganizations } from '../../features/organizations/memberships.store.ts';
import { findUserById } from '../../features/users/users.store.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { ServerState } from './server-state.ts';
import { hasSessionPart, type SessionPart } from './session-changes.store.ts';

export type Directory = ReturnType<typeof createDirectory>;

export const createDirectory = (state: ServerState, { knex }: Database, serverId: string) => ({
  user: (id: string) => state.read(() => findUserById(knex, id)),
  isAdministrator: async (userId: string) => (await state.read(() => findRights(knex, userId))).length > 0,
  groupIds: (userId: string) => state.read(() => listGroupIds(knex, userId)),
  /** Organizations, departments and groups of a user, and their roles at an application. */
  belongings: (userId: string, applicationId: string) => state.read(() => readBelongings(knex, userId, applicationId)),
  /** For a sign-in. */
  organizations: (userId: string, which: Parameters<typeof listSignInOrganizations>[2]) =>
    state.read(() => listSignInOrganizations(knex, userId, which)),
  isAssigned: (applicationId: string, userId: string) => state.read(() => isAssigned(knex, applicationId, userId)),
  rememberedScopes: (key: ConsentKey) => state.read(() => rememberedScopes(knex, key)),
  identityProvider: (id: string) => state.read(() => findIdentityProvider(knex, id)),
  /** Active providers whose assertions are trusted. */
  trustedProviders: async (issuer: string) => (isPrintable(issuer) ? state.read(() => listTrustedProviders(knex, issuer)) : []),
  /** The user who is linked to a provider's subject. */
  linkedUser: async (idpId: string, subject: string) => {
    const link = isPrintable(subject) ? await state.read(() => findLinkOfSubject(knex, idpId, subject)) : undefined;
    return link && (await state.read(() => findUserById(knex, link.userId)));
  },
  /** The provider that the user must sign in with. */
  requiredProvider: (userId: string) => state.read(() => findRequiredProvider(knex, userId)),
  hasSession: (part: SessionPart) => state.read((pool) => hasSessionPart(pool, part, epochSeconds())),
  /** @param kid from a token's header */
  signingKey: async (kid: string) => (isPrintable(kid) ? state.read(() => findSigningKey(knex, serverId, kid)) : undefined),
});
