/**
 * The subjects of users at applications (OpenID Connect Core section 8). A pairwise one is the user's ID, encrypted for the sector under a secret of
 * the installation, so that the service can find an ID token's user without a list. The secret is created on first use, sealed, and never changed:
 * with another one, every user would be a stranger to these applications.
 */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { decryptDeterministically, encryptDeterministically } from '../../platform/crypto/deterministic.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import type { ApplicationSettings, GivenSettings } from '../applications/application-settings.policy.ts';
import { findSettings, lockSettings, updateSettings } from '../settings/settings.store.ts';
import { sectorProblem } from './pairwise.policy.ts';

// Document at `sector_identifier_uri` (OpenID Connect Dynamic Client Registration section 5), validated whenever an application with it is saved.

const FIELD = 'settings.oauthClient.sector_identifier_uri';
const members = z.array(z.string().max(2048)).max(1000);

/** Content of a sector document. */
interface SectorDocument {
  readonly uri: string;
  /** undefined: it cannot be read. */
  readonly members: readonly string[] | undefined;
}

/** Fetches the sector document of the settings by the guarded HTTP client. Call before a transaction starts. */
export async function readSectorDocument(
  { config }: Pick<Services, 'config'>,
  { sector_identifier_uri: uri }: GivenSettings,
): Promise<SectorDocument | undefined> {
  if (uri === undefined) return undefined;
  try {
    const response = await createOutbound(config)(uri, { headers: { accept: 'application/json' } });
    const read = response.status === 200 ? members.safeParse(await response.json()) : undefined;
    if (read === undefined) await response.body?.cancel();
    return { uri, members: read?.data };
  } catch {
    return { uri, members: undefined };
  }
}

/** @returns why the document does not name the addresses of the application; undefined: it does, or none is needed */
export function sectorDocumentProblem(settings: ApplicationSettings, document: SectorDocument | undefined): string | undefined {
  const uri = settings.sector_identifier_uri;
  if (uri === undefined) return undefined;
  return document?.uri !== uri || document.members === undefined
    ? 'must be a public URL that returns a JSON list of redirect URIs'
    : sectorProblem(settings, document.members);
}

/** @throws {ApiError} validation: the document does not name the addresses of the application */
export function requireSector(settings: ApplicationSettings, document: SectorDocument | undefined): void {
  const problem = sectorDocumentProblem(settings, document);
  if (problem !== undefined) throw validation([{ field: FIELD, message: problem }]);
}

type Parts = Pick<Services, 'database' | 'keyring'>;

/** The setting with the secret. */
export const PAIRWISE_SETTING = 'pairwise-subjects';
export const PAIRWISE_SALT_CONTEXT = 'pairwise_salt';

const stored = z.object({ salt: z.object({ sealed: z.string() }) });

/** By database: a process may hold several in tests. */
const salts = new WeakMap<Database, Promise<Buffer>>();

function saltOf({ database, keyring }: Parts): Promise<Buffer> {
  const known = salts.get(database);
  if (known !== undefined) return known;
  const reading = readSalt({ database, keyring }).catch((error: unknown) => {
    salts.delete(database);
    throw error;
  });
  salts.set(database, reading);
  return reading;
}

async function readSalt({ database, keyring }: Parts): Promise<Buffer> {
  const open = (sealed: string): Buffer => Buffer.from(keyring.open(sealed, PAIRWISE_SALT_CONTEXT), 'base64url');
  const found = stored.safeParse(await findSettings(database.knex, PAIRWISE_SETTING));
  if (found.success) return open(found.data.salt.sealed);
  return database.transaction(async (trx) => {
    const made = stored.safeParse(await lockSettings(trx, PAIRWISE_SETTING, present()));
    if (made.success) return open(made.data.salt.sealed);
    const salt = randomBytes(32);
    const sealed = keyring.seal(salt.toString('base64url'), PAIRWISE_SALT_CONTEXT);
    await updateSettings(trx, PAIRWISE_SETTING, { salt: { sealed } }, present());
    return salt;
  });
}

/** A character that no client ID has: the subject of a user is never that of an application (RFC 9700 section 4.15). */
const PREFIX = 'pw:';

/** @param sector undefined: subjects are public @returns the `sub` of the user at the sector's applications */
export async function subjectFor(parts: Parts, sector: string | undefined, userId: string): Promise<string> {
  return sector === undefined ? userId : PREFIX + encryptDeterministically(await saltOf(parts), sector, userId);
}

/** @returns ID of the user with this `sub` in the sector; undefined: none */
export async function userBehind(parts: Parts, sector: string | undefined, subject: string): Promise<string | undefined> {
  if (sector === undefined) return subject;
  if (!subject.startsWith(PREFIX)) return undefined;
  return decryptDeterministically(await saltOf(parts), sector, subject.slice(PREFIX.length));
}
