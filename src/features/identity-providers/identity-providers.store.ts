/** External identity providers and the links of users to them. The only SQL on those tables. Protocol and policy are stored in the API's own names. */
import type pg from 'pg';
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { applyWordsOfUser } from '../users/user-orders.store.ts';
import type { IdentityProvider, IdentityProviderLink } from './identity-providers.resource.ts';

const IDENTITY_PROVIDER: Columns<IdentityProvider> = {
  id: 'id',
  name: 'name',
  type: 'type',
  status: 'status',
  protocol: 'protocol',
  sealedSecret: 'client_secret_sealed',
  policy: 'policy',
  created: 'created',
  lastUpdated: 'last_updated',
};

/** Filter of identity providers; all conditions must match. */
export interface IdentityProviderSearch {
  /** Words of the name, or a part of it. */
  readonly q?: string | undefined;
  readonly type?: IdentityProvider['type'] | undefined;
}

/** @returns false if another provider has the name or the ID */
export async function insertIdentityProvider(trx: Executor, provider: IdentityProvider): Promise<boolean> {
  const row = toRow(IDENTITY_PROVIDER, provider);
  return (await trx('identity_providers').insert(row).onConflict().ignore().returning('id')).length === 1;
}

/** @returns false if another provider has the name; the transaction can then only be rolled back */
export const updateIdentityProviderRow = (
  trx: Executor,
  id: string,
  changes: Partial<Omit<IdentityProvider, 'id' | 'created'>>,
): Promise<boolean> =>
  unlessRefused(
    trx('identity_providers').where({ id }).update(toRow<IdentityProvider>(IDENTITY_PROVIDER, changes)),
    'identity_providers_name_key',
  );

/** Also deletes its links. */
export async function deleteIdentityProviderRow(trx: Executor, id: string): Promise<void> {
  await trx('identity_providers').where({ id }).delete();
}

export async function findIdentityProvider(executor: Executor, id: string): Promise<IdentityProvider | undefined> {
  return executor('identity_providers').where({ id }).first<IdentityProvider | undefined>(IDENTITY_PROVIDER);
}

/** The existing ones of these IDs, oldest first. */
export const listIdentityProvidersOf = async (executor: Executor, ids: readonly string[]): Promise<IdentityProvider[]> =>
  ids.length === 0
    ? []
    : executor('identity_providers')
        .whereIn('id', [...ids])
        .orderBy('seq')
        .select<IdentityProvider[]>(IDENTITY_PROVIDER);

/** Locks the row, so that the second of two concurrent changes sees the first, and no user is linked meanwhile. Needs a transaction. */
export async function lockIdentityProvider(trx: Executor, id: string): Promise<IdentityProvider | undefined> {
  return trx('identity_providers').where({ id }).forUpdate().first<IdentityProvider | undefined>(IDENTITY_PROVIDER);
}

/** @returns the existing IDs, locked against deletion until the transaction ends */
export async function keepIdentityProviders(trx: Executor, ids: readonly string[]): Promise<string[]> {
  return ids.length === 0 ? [] : trx('identity_providers').whereIn('id', ids).orderBy('id').forKeyShare().pluck('id');
}

/** Oldest first. */
export function selectIdentityProviders(
  executor: Executor,
  { q, type }: IdentityProviderSearch,
  window: Window,
): Promise<Page<IdentityProvider>> {
  const query = executor('identity_providers');
  if (q !== undefined) applyWords(query, ['name'], q, 'part');
  if (type !== undefined) query.where({ type });
  return readPage(query, IDENTITY_PROVIDER, window);
}

/** Active providers of an issuer whose assertions are trusted, oldest first. They can have different client IDs at the issuer. */
export async function listTrustedProviders(executor: Executor, issuer: string): Promise<IdentityProvider[]> {
  return executor('identity_providers')
    .where({ status: 'ACTIVE', type: 'OIDC' })
    .whereRaw("protocol->'issuer'->>'url' = ? AND policy->'trust'->>'assertions' = 'true'", [issuer])
    .orderBy('seq')
    .select<IdentityProvider[]>(IDENTITY_PROVIDER);
}

/** Does an active provider vouch for addresses of the domain although its new users join none of these organizations? @param domain in ASCII */
export async function isVouchedFor(executor: Executor, domain: string, orgIds: readonly string[]): Promise<boolean> {
  const found = executor('identity_providers')
    .where({ status: 'ACTIVE' })
    .whereRaw("policy->'subject'->'emailDomains' @> to_jsonb(?::text)", [domain])
    .whereRaw("coalesce(policy->'provisioning'->>'orgId', '') <> ALL (?)", [[...orgIds]]);
  return (await found.first('id')) !== undefined;
}

/** Providers at which the user can connect an account, oldest first. Organizations' providers are included only for their members. */
export async function listConnectableProviders(executor: Executor, userId: string): Promise<IdentityProvider[]> {
  const connected = executor('organization_providers AS o').whereRaw('o.idp_id = identity_providers.id').select(executor.raw('1'));
  const own = connected.clone().join('memberships AS m', 'm.org_id', 'o.org_id').where('m.user_id', userId);
  return executor('identity_providers')
    .where({ status: 'ACTIVE' })
    .where((either) => either.whereNotExists(connected).orWhereExists(own))
    .orderBy('seq')
    .select<IdentityProvider[]>(IDENTITY_PROVIDER);
}

export interface OfferedProvider extends Pick<IdentityProvider, 'id' | 'name' | 'type' | 'status'> {
  /** Is it the provider of an organization, shown only to its users? */
  readonly isOfOrganization: boolean;
}

/** Committed rows, regardless of the current transaction, with the columns that the sign-in page needs. */
export async function listCommittedActiveProviders(pool: pg.Pool): Promise<OfferedProvider[]> {
  const text = `SELECT id, name, type, status, of_organization AS "isOfOrganization"
    FROM identity_providers i WHERE status = 'ACTIVE' ORDER BY seq`;
  return (await pool.query<OfferedProvider>({ name: 'list-active-providers', text })).rows;
}

const LINK: Columns<IdentityProviderLink> = columns('idpId', 'subject', 'userId', 'knownAs', 'created', 'lastUsed');
/** Columns of a link in a join. */
const LINK_AMONG_OTHERS = Object.fromEntries(Object.entries(LINK).map(([field, column]) => [field, `l.${column}`]));

/** @returns false if the subject or the user is already linked at this provider, even to each other */
export async function insertIdentityLink(trx: Executor, link: IdentityProviderLink): Promise<boolean> {
  return (await trx('identity_provider_links').insert(toRow(LINK, link)).onConflict().ignore().returning('user_id')).length === 1;
}

export async function findIdentityLink(executor: Executor, idpId: string, userId: string): Promise<IdentityProviderLink | undefined> {
  return executor('identity_provider_links').where({ idp_id: idpId, user_id: userId }).first<IdentityProviderLink | undefined>(LINK);
}

/** User linked to a subject of the provider. */
export async function findLinkOfSubject(executor: Executor, idpId: string, subject: string): Promise<IdentityProviderLink | undefined> {
  return executor('identity_provider_links').where({ idp_id: idpId, subject }).first<IdentityProviderLink | undefined>(LINK);
}

/** Is any provider's subject linked to the user? */
export async function hasLinks(executor: Executor, userId: string): Promise<boolean> {
  return (await executor('identity_provider_links').where({ user_id: userId }).first('user_id')) !== undefined;
}

/** Records a sign-in with the link. */
export async function touchLink(
  trx: Executor,
  { idpId, userId, ...changes }: Pick<IdentityProviderLink, 'idpId' | 'userId' | 'knownAs' | 'lastUsed'>,
): Promise<void> {
  await trx('identity_provider_links').where({ idp_id: idpId, user_id: userId }).update(toRow<IdentityProviderLink>(LINK, changes));
}

/** A link as its user sees it. */
export type NamedLink = IdentityProviderLink & Pick<IdentityProvider, 'name' | 'status'>;

const linksOf = (executor: Executor, userId: string) =>
  executor('identity_provider_links as l')
    .join('identity_providers as p', 'p.id', 'l.idp_id')
    .where('l.user_id', userId)
    .orderBy('l.seq')
    .select<NamedLink[]>(LINK_AMONG_OTHERS, 'p.name', 'p.status');

/** All links of a user, also to inactive providers, oldest first. */
export const listLinksOf = async (executor: Executor, userId: string): Promise<NamedLink[]> => linksOf(executor, userId);

/** Links to providers of other organizations. @param orgId undefined: of all organizations */
export async function listLinksOfOtherOrganizations(executor: Executor, userId: string, orgId: string | undefined): Promise<NamedLink[]> {
  const connected = executor('organization_providers AS o')
    .whereRaw('o.idp_id = p.id')
    .where('o.org_id', orgId ?? '');
  return linksOf(executor, userId)
    .where('p.of_organization', true)
    .whereNotExists(connected.select(executor.raw('1')));
}

/** @returns false if there is no such link */
export async function deleteLink(trx: Executor, idpId: string, userId: string): Promise<boolean> {
  return (await trx('identity_provider_links').where({ idp_id: idpId, user_id: userId }).delete()) === 1;
}

/** A linked user. */
export interface LinkedUser extends IdentityProviderLink {
  readonly login: string;
}

/** Oldest first. Words find users by all their names. */
export function listLinks(executor: Executor, idpId: string, window: Window): Promise<Page<LinkedUser>> {
  const linked = executor('identity_provider_links AS l').where('l.idp_id', idpId);
  return readPage(linked.clone().join('users AS u', 'u.id', 'l.user_id'), { ...LINK_AMONG_OTHERS, login: 'u.login' }, window, {
    by: 'l.seq',
    counted: linked,
    isFilled: true,
    search: applyWordsOfUser('l.user_id'),
  });
}

export async function countLinks(executor: Executor, idpId: string): Promise<number> {
  const row = await executor('identity_provider_links').where({ idp_id: idpId }).count<{ count: number }[]>({ count: '*' }).first();
  return row?.count ?? 0;
}

/** @returns the name of the oldest provider that maps a claim to the attribute; undefined: none */
export async function findProviderMapping(executor: Executor, attribute: string): Promise<string | undefined> {
  const mapping = executor('identity_providers').whereRaw("jsonb_exists(policy->'attributeMap', ?)", [attribute]).orderBy('seq');
  return (await mapping.first<{ name: string } | undefined>('name'))?.name;
}
