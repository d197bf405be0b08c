/** Providers of a domain, and the provider that a user must use. One indexed read each. */
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';
import { administersOrganization } from '../administrators/roles.store.ts';

/** A provider for addresses of a domain. */
export interface DomainProvider {
  readonly id: string;
  readonly name: string;
  readonly isRequired: boolean;
}

const BY_DOMAIN = {
  name: 'find-domain-providers',
  // Looks providers up by key: for tables without statistics, PostgreSQL would otherwise read all of them.
  text: `SELECT i.id, i.name, d.required AS "isRequired" FROM organization_provider_domains d
    CROSS JOIN LATERAL (SELECT id, name, seq FROM identity_providers WHERE id = d.idp_id AND status = 'ACTIVE' LIMIT 1) i
    WHERE d.domain = $1 ORDER BY d.required DESC, i.seq`,
};

/**
 * Active providers of the domain, the required one first.
 * @param domain in ASCII; undefined: a query is still sent, so that the timing is the same
 */
export async function findDomainProviders(pool: Pick<pg.Pool, 'query'>, domain: string | undefined): Promise<readonly DomainProvider[]> {
  return (await pool.query<DomainProvider>({ ...BY_DOMAIN, values: [domain ?? ''] })).rows;
}

const domainOf = (address: string): string => `lower(substring(${address} from '@([^@]+)$'))`;

/**
 * SQL expression for the provider that the user must sign in with: the active one that the domain of their user name or e-mail address requires. It
 * does not apply to users who could then not sign in at all (docs/decisions/0081): administrators of the service and, without a linked account at the
 * provider, administrators of organizations and members of other organizations who are not members of the one that requires it.
 * @param user alias of a row with the columns id, login and email
 * @param wanted expression to select, with the provider as `i` and the domain as `d`
 */
const requiredOf = (user: string, wanted: string): string => `(SELECT ${wanted} FROM organization_provider_domains d
    JOIN identity_providers i ON i.id = d.idp_id AND i.status = 'ACTIVE'
  WHERE d.required AND (d.domain IN (${domainOf(`${user}.login`)}, ${domainOf(`${user}.email`)})
      OR d.spelling IN (${domainOf(`${user}.login`)}, ${domainOf(`${user}.email`)}))
    AND NOT EXISTS (SELECT FROM roles r WHERE r.user_id = ${user}.id AND r.type <> 'ORG_ADMIN')
    AND (EXISTS (SELECT FROM identity_provider_links l WHERE l.user_id = ${user}.id AND l.idp_id = d.idp_id)
      OR (NOT ${administersOrganization(`${user}.id`)}
        AND (EXISTS (SELECT FROM memberships m WHERE m.user_id = ${user}.id AND m.org_id = d.org_id)
          OR NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = ${user}.id AND m.org_id <> d.org_id))))
  ORDER BY d.domain LIMIT 1)`;

/** ID and name of the provider, as an SQL expression. @param user alias of a row with the columns id, login and email */
export const requiredProviderOf = (user: string): string => requiredOf(user, "json_build_object('id', i.id, 'name', i.name)");

export interface RequiredProvider {
  readonly id: string;
  readonly name: string;
  /** The domain that requires it, in ASCII. */
  readonly domain: string;
}

/** @param email used instead of the user's @returns the provider that the user must sign in with; undefined: none is required */
export async function findRequiredProvider(executor: Executor, userId: string, email?: string): Promise<RequiredProvider | undefined> {
  const required = requiredOf('named', "json_build_object('id', i.id, 'name', i.name, 'domain', d.domain)");
  const { rows } = await executor.raw<{ rows: { required: RequiredProvider | null }[] }>(
    `SELECT ${required} AS required FROM (SELECT id, login, coalesce(?::text, email) AS email FROM users WHERE id = ?) named`,
    [email ?? null, userId],
  );
  return rows[0]?.required ?? undefined;
}
