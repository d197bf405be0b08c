/**
 * Imports users, several per transaction with their events. Each is validated as if created alone, and imported completely or refused; none depends
 * on another, so an import can be interrupted and repeated.
 */
import { createHash } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { noteImported } from '../sign-in/answer-time.service.ts';
import {
  addedValues,
  findAttributeOfOthers,
  findTakenAttribute,
  sizeProblem,
  valueProblems,
} from '../user-schema/attribute-values.service.ts';
import type { AttributeValue, UserSchema } from '../user-schema/attributes.resource.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { shareLockUserSchema } from '../user-schema/user-schema.store.ts';
import { givenPassword, isVerifiedAddress, splitProfile, storedPassword, type UserProfile } from '../users/user-profile.service.ts';
import type { User } from '../users/users.resource.ts';
import { deleteUserRow } from '../users/users.store.ts';
import { knownAttributes, readOnlyAttributes } from './foreign-attributes.service.ts';
import { type ImportedUser, type ImportItem, type ImportPlace, importedUser, reasonsOf } from './import-record.service.ts';
import { findNameFacts, insertUsers, lockUserNames, type NameFacts } from './user-batches.store.ts';
import { type FileNames, findReferences, type References, referenceProblems } from './user-references.service.ts';
import { writeBelongings } from './user-writes.service.ts';

/** A refused record with its reasons, e.g. one per field. */
export interface ImportRefusal {
  readonly place: ImportPlace;
  readonly reasons: readonly string[];
}

/** Shared data of an import's batches. */
export interface ImportRun extends FileNames {
  readonly services: Services;
  readonly request: RequestContext;
  /** Nothing is written. */
  readonly isDryRun: boolean;
  /** Must users have all required custom attributes? */
  readonly isComplete: boolean;
  /** Hashed user names of the file so far, to find duplicates in the file. */
  readonly seen: Set<number>;
  /** Hashed e-mail addresses of the file so far, only in a dry run: otherwise they are in the database. */
  readonly seenAddresses: Set<number>;
  /** Names of identity providers of the file so far. */
  readonly providers: Set<string>;
  /** Counts attributes that users do not have here. */
  readonly leftOut: Map<string, number>;
  /** Counts attributes that users could change in the other system, but cannot change here. */
  readonly notTaken: Map<string, number>;
}

export interface BatchOutcome {
  readonly imported: number;
  /** Number of users who existed before the import. */
  readonly existing: number;
  readonly refused: readonly ImportRefusal[];
}

/** A user who is valid on their own; conflicts with other users are not checked yet. */
interface Candidate {
  readonly place: ImportPlace;
  readonly given: ImportedUser;
  readonly user: User;
}

type UserItem = Extract<ImportItem, { readonly kind: 'user' }>;

/** Imports or refuses the users, all in one transaction. @throws errors that prevent any import, e.g. an unreachable database */
export async function importBatch(run: ImportRun, items: readonly UserItem[]): Promise<BatchOutcome> {
  const refused: ImportRefusal[] = [];
  const { attributes } = await currentUserSchema(run.services);
  const prepared = await Promise.all(items.map((item) => prepare(run, item, attributes)));
  const candidates: Candidate[] = [];
  for (const one of prepared) {
    if ('reasons' in one) refused.push(one);
    else candidates.push(one);
  }
  if (candidates.length === 0) return { imported: 0, existing: 0, refused };

  const { accepted, existing, keys, addressKeys, refusals } = await run.services.database.transaction(async (trx) => {
    if (!run.isDryRun) await lockUserNames(trx, namesOf(candidates));
    const references = await findReferences(trx, candidates);
    const schema = await shareLockUserSchema(trx);
    const checked = checkCandidates(
      run,
      candidates,
      await findNameFacts(
        trx,
        candidates.map(({ user }) => user),
      ),
      schema,
      references,
    );
    if (run.isDryRun) {
      const taken = await takenValues(trx, schema, checked.accepted, findAttributeOfOthers);
      return withoutRefused(checked, taken);
    }
    await insertUsers(
      trx,
      checked.accepted.map(({ user }) => user),
    );
    const taken = await takenValues(trx, schema, checked.accepted, findTakenAttribute);
    for (const { user } of taken.keys()) await deleteUserRow(trx, user.id);
    const imported = withoutRefused(checked, taken);
    // Events only for imported users.
    await writeBelongings(trx, run, imported.accepted, references);
    return imported;
  });
  for (const key of keys) run.seen.add(key);
  if (run.isDryRun) for (const key of addressKeys) run.seenAddresses.add(key);
  if (!run.isDryRun && accepted.some(({ user }) => user.passwordHash !== null)) noteImported(run.services.database);
  return { imported: accepted.length, existing, refused: [...refused, ...refusals] };
}

const namesOf = (candidates: readonly Candidate[]): string[] =>
  candidates.flatMap(({ user: { login, email } }) => (email === null ? [login] : [login, email]));

/** Before the transaction: hashing is slow, and connections are few. */
async function prepare(run: ImportRun, item: UserItem, schema: UserSchema['attributes']): Promise<Candidate | ImportRefusal> {
  const { place } = item;
  try {
    const given = parse(importedUser, withAttributes(run, item, schema));
    const names = splitProfile(given.profile);
    const passwordHash = await storedPassword(run.services, passwordOf(run, given), async () => names);
    return { place, given, user: userOf(given, passwordHash) };
  } catch (error) {
    return { place, reasons: reasonsOf(error) };
  }
}

function passwordOf({ isDryRun }: ImportRun, { credentials }: ImportedUser) {
  const { password, passwordHash } = givenPassword(credentials);
  // A dry run does not hash passwords in clear, because each takes time.
  return isDryRun ? { passwordHash } : { password, passwordHash };
}

function withAttributes(
  { leftOut, notTaken }: ImportRun,
  { value, attributes, ownAttributes = {} }: UserItem,
  schema: UserSchema['attributes'],
): unknown {
  if (attributes === undefined || typeof value !== 'object' || value === null) return value;
  const refused = readOnlyAttributes(schema, ownAttributes);
  const own = Object.fromEntries(Object.entries(ownAttributes).filter(([name]) => !refused.includes(name)));
  const { known, unknown } = knownAttributes(schema, { ...own, ...attributes });
  for (const name of unknown) if (leftOut.size < 100 || leftOut.has(name)) count(leftOut, name);
  for (const name of refused) count(notTaken, name);
  const { profile } = value as { readonly profile?: object };
  return { ...value, profile: { ...known, ...profile } };
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

const NOT_ACTIVATED: ReadonlySet<string> = new Set(['STAGED', 'PROVISIONED']);

function userOf({ profile, status }: ImportedUser, passwordHash: string | null): User {
  const now = present();
  return {
    id: newId('usr'),
    ...splitProfile(profile),
    emailVerified: isVerifiedAddress(profile),
    status,
    lockedUntil: null,
    passwordHash,
    passwordChanged: passwordHash === null ? null : now,
    created: now,
    activated: NOT_ACTIVATED.has(status) ? null : now,
    approvalRequested: null,
    statusChanged: status === 'STAGED' ? null : now,
    lastLogin: null,
    lastUpdated: now,
  };
}

interface Checked {
  readonly accepted: readonly Candidate[];
  readonly existing: number;
  readonly refusals: readonly ImportRefusal[];
  /** Hashed user names of the accepted and the existing users. */
  readonly keys: readonly number[];
  /** Hashed e-mail addresses of the accepted users. */
  readonly addressKeys: readonly number[];
}

function checkCandidates(
  run: ImportRun,
  candidates: readonly Candidate[],
  facts: readonly NameFacts[],
  schema: UserSchema,
  references: References,
): Checked {
  const names = new BatchNames(run);
  const accepted: Candidate[] = [];
  const refusals: ImportRefusal[] = [];
  let existing = 0;
  for (const [at, candidate] of candidates.entries()) {
    const fact = facts[at] as NameFacts;
    const state = names.stateOf(fact);
    if (state === 'there before') {
      existing += 1;
      names.note(fact);
      continue;
    }
    const { given, user, place } = candidate;
    const problems = [
      ...(state === undefined ? [] : [state]),
      ...attributeProblems(run, schema, given.profile, user),
      ...referenceProblems(references, run, given),
    ];
    if (problems.length > 0) refusals.push({ place, reasons: problems });
    else {
      accepted.push(candidate);
      names.take(fact);
    }
  }
  return { accepted, existing, refusals, keys: names.keys, addressKeys: names.addressKeys };
}

/**
 * A hash of 52 bits, which a JavaScript number represents exactly. A duplicate is reported only if the database also contains the user name, so hash
 * collisions do no harm. A dry run has only the hash: of a million users, it wrongly reports one as a duplicate once in ten thousand runs.
 */
const keyOf = (name: string): number => Number.parseInt(createHash('sha1').update(name).digest('hex').slice(0, 13), 16);

/** Names of the users of a batch, to find duplicates within it and in earlier batches. */
class BatchNames {
  readonly keys: number[] = [];
  readonly addressKeys: number[] = [];
  readonly #run: Pick<ImportRun, 'seen' | 'seenAddresses' | 'isDryRun'>;
  readonly #logins = new Set<string>();
  readonly #emails = new Set<string>();

  constructor(run: Pick<ImportRun, 'seen' | 'seenAddresses' | 'isDryRun'>) {
    this.#run = run;
  }

  /** @returns `there before`: the user exists; otherwise the reason for which the names are refused; undefined: they are free */
  stateOf({ loginKey, emailKey, isThere, loginIsEmail, emailIsLogin }: NameFacts): string | undefined {
    const { seen, seenAddresses, isDryRun } = this.#run;
    // A dry run writes nothing, so that the database does not know the users of earlier batches.
    const isEarlier = (names: ReadonlySet<number>, name: string, isStored: boolean) => (isStored || isDryRun) && names.has(keyOf(name));
    if (this.#logins.has(loginKey) || isEarlier(seen, loginKey, isThere))
      return 'profile.login: an earlier user in the file has this user name. Choose another one';
    if (isThere) return 'there before';
    if (loginIsEmail || this.#emails.has(loginKey) || isEarlier(seenAddresses, loginKey, false))
      return 'profile.login: is already the e-mail address of another user. Choose another one';
    if (emailKey !== null && (emailIsLogin || this.#logins.has(emailKey) || isEarlier(seen, emailKey, false)))
      return 'profile.email: is already the user name of another user. Choose another one';
    return undefined;
  }

  note({ loginKey }: NameFacts): void {
    this.#logins.add(loginKey);
    this.keys.push(keyOf(loginKey));
  }

  take(fact: NameFacts): void {
    this.note(fact);
    if (fact.emailKey === null) return;
    this.#emails.add(fact.emailKey);
    this.addressKeys.push(keyOf(fact.emailKey));
  }
}

function attributeProblems({ isComplete }: ImportRun, schema: UserSchema, profile: UserProfile, user: User): string[] {
  const problems = valueProblems(schema, addedValues(profile), { complete: isComplete });
  const size = sizeProblem(addedValues<AttributeValue>(user.profile));
  return [...problems, ...(size === undefined ? [] : [size])].map(({ field, message }) => `${field}: ${message}`);
}

/** Refuses users whose value of a unique attribute another user has. @param find the attribute @returns the refusals */
async function takenValues(
  trx: Executor,
  schema: UserSchema,
  accepted: readonly Candidate[],
  find: typeof findTakenAttribute,
): Promise<Map<Candidate, ImportRefusal>> {
  const refused = new Map<Candidate, ImportRefusal>();
  if (!schema.attributes.some(({ unique }) => unique)) return refused;
  for (const candidate of accepted) {
    const taken = await find(trx, schema, candidate.user);
    if (taken !== undefined)
      refused.set(candidate, { place: candidate.place, reasons: [`profile.${taken}: another user has this value. Choose another one`] });
  }
  return refused;
}

const withoutRefused = (checked: Checked, refused: ReadonlyMap<Candidate, ImportRefusal>): Checked => ({
  ...checked,
  accepted: checked.accepted.filter((one) => !refused.has(one)),
  refusals: [...checked.refusals, ...refused.values()],
});
