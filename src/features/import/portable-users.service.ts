/** Exports all users in a format that can be imported. The file contains secrets only on request. */
import { stringify } from 'csv-stringify/sync';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password.policy.ts';
import { openTotpSecret } from '../second-factors/one-time-codes.service.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { PROFILE_COLUMNS } from '../users/user-data.service.ts';
import { profileFields } from '../users/users.service.ts';
import { hashOfText } from './hash-text.service.ts';
import { type PortableUser, readPortableUsers } from './portable-users.store.ts';

/** Users read at a time. */
const BATCH = 500;

export interface PortableOptions {
  readonly format: 'ndjson' | 'csv';
  readonly withPasswordHashes: boolean;
  readonly withTotpSecrets: boolean;
}

/** @returns the file in pieces, one for each batch of users */
export async function* portableUsers(services: Services, options: PortableOptions, request: RequestContext): AsyncGenerator<string> {
  await recordEvent(services.database.knex, {
    eventType: 'system.export.users',
    displayMessage: 'Export users',
    request,
    after: { ...options },
  });
  const write = options.format === 'ndjson' ? ndjsonOf(services, options) : await csvOf(services, options);
  for (let after = 0; ; ) {
    const users = await readPortableUsers(services.database.knex, after, BATCH);
    yield write(users, after === 0);
    const last = users.at(-1);
    if (last === undefined || users.length < BATCH) return;
    after = last.place;
  }
}

type Writer = (users: readonly PortableUser[], isFirst: boolean) => string;

/** Converts Argon2 hashes of other systems, which the database stores under a different name. */
const textOf = (stored: string): string => stored.replace(/^\$foreign-/, '$');

function credentialsOf({ passwordHash }: PortableUser): object | undefined {
  if (passwordHash === null) return undefined;
  const password =
    passwordHash === PASSWORD_ELSEWHERE ? { hook: { type: 'default' } } : { hash: hashOfText(textOf(passwordHash), 'passwordHash') };
  return { password };
}

const secretsOf = ({ keyring }: Services, { factors }: PortableUser) =>
  factors.map(({ id, name, sealed }) => ({ type: 'TOTP', secret: openTotpSecret(keyring, sealed, id), name }));

const unlessEmpty = <K extends string>(name: K, values: readonly unknown[]) => (values.length === 0 ? {} : { [name]: values });

function ndjsonOf(services: Services, { withPasswordHashes, withTotpSecrets }: PortableOptions): Writer {
  const recordOf = (user: PortableUser) => ({
    profile: profileFields(user),
    credentials: withPasswordHashes ? credentialsOf(user) : undefined,
    status: user.status,
    ...unlessEmpty('organizations', user.organizations),
    ...unlessEmpty('groups', user.groups),
    ...unlessEmpty('applications', user.applications),
    ...unlessEmpty('links', user.links),
    ...(withTotpSecrets && unlessEmpty('factors', secretsOf(services, user))),
  });
  return (users) => users.map((user) => `${JSON.stringify(recordOf(user))}\n`).join('');
}

async function csvOf(services: Services, { withPasswordHashes, withTotpSecrets }: PortableOptions): Promise<Writer> {
  const { attributes } = await currentUserSchema(services);
  const columns = [
    ...['id', 'status', 'created', 'lastLogin'],
    ...PROFILE_COLUMNS,
    ...attributes.map(({ name }) => name),
    ...['organizations', 'groups'],
    ...(withPasswordHashes ? ['passwordHash'] : []),
    ...(withTotpSecrets ? ['totpSecret'] : []),
  ];
  const recordOf = (user: PortableUser) => ({
    ...{ id: user.id, status: user.status, created: user.created.toISOString(), lastLogin: user.lastLogin?.toISOString() },
    ...profileFields(user),
    ...unlessEmpty('organizations', user.organizations),
    ...unlessEmpty('groups', user.groups),
    ...(withPasswordHashes &&
      user.passwordHash !== null &&
      user.passwordHash !== PASSWORD_ELSEWHERE && { passwordHash: textOf(user.passwordHash) }),
    ...(withTotpSecrets && { totpSecret: secretsOf(services, user)[0]?.secret }),
  });
  // A list is one cell, as JSON.
  const cast = { boolean: (value: boolean) => String(value), object: (value: unknown) => JSON.stringify(value) };
  return (users, isFirst) => stringify(users.map(recordOf), { header: isFirst, bom: isFirst, columns, escape_formulas: true, cast });
}
