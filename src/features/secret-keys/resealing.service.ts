/**
 * Encrypts values again under the first key of SECRET_KEY, so that other keys can be removed, and checks before the first request whether SECRET_KEY
 * can decrypt the database. Works in bounded batches beside the running service; it can be interrupted and repeated.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { applicationSecretContext } from '../applications/sealed-secrets.service.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { renewSignature } from '../audit/audit-retention.service.ts';
import { sealBatch } from '../audit/audit-seals.service.ts';
import { sealingContext as signingKeyContext } from '../authorization-servers/signing-keys.service.ts';
import { BACKCHANNEL_PING, pingContext } from '../backchannel-requests/ping.policy.ts';
import { emailCodeContext } from '../email-codes/email-codes.service.ts';
import type { HookKind } from '../event-hooks/event-hooks.resource.ts';
import { headerContext, hookSecretContext } from '../event-hooks/hook-secrets.service.ts';
import { responseContext } from '../idempotency/idempotency.service.ts';
import { identityProviderSecretContext as providerContext } from '../identity-providers/identity-providers.service.ts';
import { inboxMailContext as inboxContext } from '../mail/dev-inbox.service.ts';
import { sealContext as mailContext } from '../mail/mail.service.ts';
import { MAIL_PASSWORD_CONTEXT } from '../mail/mail-settings.resource.ts';
import { phoneNumberContext } from '../message-factors/factor-codes.service.ts';
import { resetRequestContext } from '../passwords/forgotten-password.service.ts';
import { targetSecretContext } from '../provisioning/scim-target.service.ts';
import { totpSecretContext as totpContext } from '../second-factors/one-time-codes.service.ts';
import { findSettings, lockSettings, updateSettings } from '../settings/settings.store.ts';
import { streamAuthorizationContext } from '../signals/signal-streams.service.ts';
import { PAIRWISE_SALT_CONTEXT, PAIRWISE_SETTING } from '../subjects/pairwise-subjects.service.ts';
import { TELEPHONY } from '../telephony/telephony-settings.resource.ts';
import {
  countSealed,
  listSealedOtherwise,
  replaceSealed,
  SEALED_COLUMNS,
  type Sealed,
  type SealedColumn,
  type SealedColumnName,
  type SealedRow,
} from './sealed-values.store.ts';

type Again = (sealed: string, context: string) => string;

const BATCH = 200;

/** Setting with the IDs of all keys in use; `looked`: were values from before the setting existed checked? */
const KNOWN = 'secret-keys';
const known = z.object({ ids: z.array(z.string()).default([]), looked: z.boolean().default(false) });

/** A column that contains only the sealed value. */
const alone =
  (contextOf: (key: string) => string) =>
  ({ key, value }: SealedRow, again: Again): string =>
    again(value, contextOf(key));

const header = z.looseObject({ key: z.string(), sealed: z.string() });
const channel = z.looseObject({ headers: z.array(header), authScheme: header.nullable() });

const hookSecretOf = (kind: HookKind) => alone((hookId) => hookSecretContext(kind, hookId));

const channelOf =
  (kind: HookKind) =>
  ({ key: hookId, value }: SealedRow, again: Again): string => {
    const { headers, authScheme, ...rest } = channel.parse(JSON.parse(value));
    const withNewKey = (one: z.infer<typeof header>) => ({ ...one, sealed: again(one.sealed, headerContext(kind, hookId, one.key)) });
    return JSON.stringify({ ...rest, headers: headers.map(withNewKey), authScheme: authScheme && withNewKey(authScheme) });
  };

/** Entries for e-mails and notifications contain their kind; those for forgotten passwords do not. */
const note = z.looseObject({ id: z.string(), sealed: z.string(), kind: z.string().optional() });

function resealOutboxEntry({ value }: SealedRow, again: Again): string {
  const { id, sealed, ...rest } = note.parse(JSON.parse(value));
  return JSON.stringify({ ...rest, id, sealed: again(sealed, contextOfNote(id, rest.kind)) });
}

function contextOfNote(id: string, kind: string | undefined): string {
  if (kind === undefined) return resetRequestContext(id);
  return kind === BACKCHANNEL_PING ? pingContext(id) : mailContext(id);
}

/** Settings with an encrypted member: its name and its context. */
const SEALED_SETTINGS: Readonly<Record<string, readonly [member: string, context: string]>> = {
  mail: ['password', MAIL_PASSWORD_CONTEXT],
  telephony: ['secret', hookSecretContext(TELEPHONY, TELEPHONY)],
  [PAIRWISE_SETTING]: ['salt', PAIRWISE_SALT_CONTEXT],
};

function resealSetting({ key: name, value }: SealedRow, again: Again): string {
  const [member = '', context = ''] = SEALED_SETTINGS[name] ?? [];
  const { [member]: found, ...rest } = z.looseObject({ [member]: z.looseObject({ sealed: z.string() }) }).parse(JSON.parse(value));
  return JSON.stringify({ ...rest, [member]: { ...found, sealed: again(String(found?.sealed), context) } });
}

/** Encryption functions of each column, from the features that own it. */
const RESEAL: Readonly<Record<SealedColumnName, (row: SealedRow, again: Again) => string>> = {
  signingKeys: alone(signingKeyContext),
  applicationSecrets: alone(applicationSecretContext),
  providerSecrets: alone(providerContext),
  hookSecrets: hookSecretOf('event_hook'),
  formerHookSecrets: hookSecretOf('event_hook'),
  inlineHookSecrets: hookSecretOf('inline_hook'),
  formerInlineHookSecrets: hookSecretOf('inline_hook'),
  provisioningSecrets: alone(targetSecretContext),
  signalAuthorizations: alone(streamAuthorizationContext),
  settings: resealSetting,
  hookHeaders: channelOf('event_hook'),
  inlineHookHeaders: channelOf('inline_hook'),
  factors: alone(totpContext),
  signInStates: alone(totpContext),
  emailCodes: alone(emailCodeContext),
  phoneNumbers: alone(phoneNumberContext),
  repeatableAnswers: alone(responseContext),
  devInbox: alone(inboxContext),
  outbox: resealOutboxEntry,
};

export interface Resealed {
  /** Values that were encrypted again, by table. */
  readonly resealed: ReadonlyMap<string, number>;
  /** Values that cannot be decrypted, by table. */
  readonly unopened: ReadonlyMap<string, number>;
}

type Sealing = Pick<Services, 'database' | 'log' | 'keyring'>;

/**
 * Encrypts every value that is not under the first key again with that key, which then also signs the audit log.
 * @param batch rows at a time, each batch a transaction
 */
export async function resealEverything(services: Sealing, batch = BATCH): Promise<Resealed> {
  const { database, keyring } = services;
  // Before the first value is sealed with it: a process that starts without this key must search.
  await database.transaction(async (trx) => {
    const { ids, ...rest } = known.parse(await lockSettings(trx, KNOWN, present()));
    await updateSettings(trx, KNOWN, { ...rest, ids: [...new Set([...ids, ...keyring.ids])] }, present());
  });
  const resealed = new Map<string, number>();
  const unopened = new Map<string, number>();
  const count = (counts: Map<string, number>, table: string, more: number) => void counts.set(table, (counts.get(table) ?? 0) + more);

  for (const [name, place] of Object.entries(SEALED_COLUMNS) as [SealedColumnName, SealedColumn][]) {
    let after: string | undefined;
    for (let more = true; more; ) {
      const rows = await listSealedOtherwise(database.knex, place, { keyId: keyring.id, after, limit: batch });
      const changes = rows.flatMap((row) => {
        try {
          return [{ ...row, resealed: RESEAL[name](row, (sealed, context) => keyring.seal(keyring.open(sealed, context), context)) }];
        } catch {
          count(unopened, place.table, 1);
          return [];
        }
      });
      if (changes.length > 0) count(resealed, place.table, await replaceSealed(database.knex, place, changes));
      after = rows.at(-1)?.key;
      more = rows.length === batch;
    }
  }
  const result = { resealed, unopened };
  if (resealed.size > 0) await recordResult(services, result);
  for (let more = true; more; ) more = (await sealBatch(services))?.complete === false;
  await renewSignature(services);
  return result;
}

async function recordResult({ database, keyring }: Sealing, { resealed, unopened }: Resealed): Promise<void> {
  await database.transaction((trx) =>
    recordEvent(trx, {
      eventType: 'system.secret_key.reseal',
      displayMessage: 'Seal secrets under the first key of SECRET_KEY',
      request: SYSTEM,
      targets: [{ id: keyring.id, type: 'SecretKey', displayName: keyring.id }],
      after: { resealed: Object.fromEntries(resealed), ...(unopened.size > 0 && { unopened: Object.fromEntries(unopened) }) },
    }),
  );
}

/**
 * Does SECRET_KEY contain every key in use? The IDs of used keys are stored, so that all values are checked only if a known key is missing.
 * @returns values whose key is missing; empty if none
 */
export async function findUnopenable({ database, keyring }: Pick<Services, 'database' | 'keyring'>): Promise<readonly Sealed[]> {
  const isGone = (id: string) => !keyring.ids.includes(id);
  const seen = known.parse((await findSettings(database.knex, KNOWN)) ?? {});
  // The usual case after the first start with a key: nothing is written.
  if (seen.looked && !seen.ids.some(isGone) && keyring.ids.every((id) => seen.ids.includes(id))) return [];
  return database.transaction(async (trx) => {
    const { ids, looked } = known.parse(await lockSettings(trx, KNOWN, present()));
    if (!looked || ids.some(isGone)) {
      const missing = (await countSealed(trx)).filter(({ keyId }) => isGone(keyId));
      if (missing.length > 0) return missing;
    }
    // After checking all values, missing keys are no longer needed.
    const all = ids.some(isGone) ? keyring.ids : [...new Set([...keyring.ids, ...ids])];
    await updateSettings(trx, KNOWN, { ids: all, looked: true }, present());
    return [];
  });
}
