/** Maps audit events to security events (CAEP 1.0, RISC 1.0). An event says that something ended, without details: no names, addresses or devices. */

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';

const SESSION_REVOKED = `${CAEP}/session-revoked` as const;
const CREDENTIAL_CHANGE = `${CAEP}/credential-change` as const;
const ACCOUNT_DISABLED = `${RISC}/account-disabled` as const;
const ACCOUNT_PURGED = `${RISC}/account-purged` as const;

export const SIGNAL_TYPES = [SESSION_REVOKED, CREDENTIAL_CHANGE, ACCOUNT_DISABLED, ACCOUNT_PURGED] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];

/** The security events that each type of audit event can cause. */
const SOURCES: Readonly<Record<string, readonly SignalType[]>> = {
  'user.session.clear': [SESSION_REVOKED],
  'user.session.end': [SESSION_REVOKED],
  'user.account.expire_password': [SESSION_REVOKED],
  'user.account.reset_password': [CREDENTIAL_CHANGE, SESSION_REVOKED],
  'user.account.update_password': [CREDENTIAL_CHANGE, SESSION_REVOKED],
  'user.mfa.factor.activate': [CREDENTIAL_CHANGE],
  'user.mfa.factor.deactivate': [CREDENTIAL_CHANGE],
  'user.mfa.factor.reset_all': [CREDENTIAL_CHANGE],
  'user.lifecycle.suspend': [ACCOUNT_DISABLED, SESSION_REVOKED],
  'user.lifecycle.deactivate': [ACCOUNT_DISABLED, SESSION_REVOKED],
  'user.lifecycle.delete.initiated': [ACCOUNT_PURGED],
};

/** @returns the types of audit events that cause these signals */
export const sourcesOf = (types: readonly SignalType[]): string[] =>
  Object.entries(SOURCES).flatMap(([source, signals]) => (signals.some((type) => types.includes(type)) ? [source] : []));

/** The supported ones of the types; a receiver may request others too (SSF 1.0 section 8.1.1). */
export const knownTypes = (requested: readonly string[]): SignalType[] => SIGNAL_TYPES.filter((type) => requested.includes(type));

/** Parts of an audit event that are used. */
interface SourceEvent {
  readonly published: Date;
  readonly eventType: string;
  readonly displayMessage: string;
  readonly actor: { readonly id: string; readonly type: string };
  readonly outcome: { readonly result: string };
  readonly target: readonly { readonly id: string; readonly type: string }[];
  readonly debugContext: Readonly<Record<string, unknown>>;
}

export interface Signal {
  readonly type: SignalType;
  /** ID of the user that it is about. */
  readonly userId: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Distinguishes several signals of one type. */
  readonly part: string;
}

/** @returns the events for receivers; none if the audit event failed, or ended nothing */
export function signalsOf(event: SourceEvent): readonly Signal[] {
  const [user] = event.target;
  if (event.outcome.result !== 'SUCCESS' || user?.type !== 'User') return [];
  const common = {
    event_timestamp: Math.floor(event.published.getTime() / 1000),
    initiating_entity: initiatorOf(event, user.id),
    // CAEP Interoperability Profile 1.0: never empty.
    reason_admin: { en: event.displayMessage },
  };
  return (SOURCES[event.eventType] ?? []).flatMap((type) =>
    detailsOf(type, event).map((claims, index) => ({ type, userId: user.id, claims: { ...common, ...claims }, part: String(index) })),
  );
}

/** CAEP 1.0 section 2. */
function initiatorOf({ actor }: SourceEvent, userId: string): 'user' | 'system' | 'admin' {
  if (actor.type === 'SystemPrincipal') return 'system';
  return actor.id === userId ? 'user' : 'admin';
}

type Details = Readonly<Record<string, unknown>>;

/** @returns one element for each signal of the type; empty: the audit event causes none */
function detailsOf(type: SignalType, event: SourceEvent): readonly Details[] {
  const before = membersOf(event.debugContext.before);
  const after = membersOf(event.debugContext.after);
  // A link requested by a user changes nothing yet.
  if (event.eventType === 'user.account.reset_password' && after.status === undefined) return [];
  // A plain sign-out of one browser revokes nothing elsewhere: applications learn it by back-channel logout.
  if (event.eventType === 'user.session.end' && before.signedIn === undefined) return [];
  return type === CREDENTIAL_CHANGE ? credentialChanges(event.eventType, before, after) : [{}];
}

function credentialChanges(eventType: string, before: Details, after: Details): readonly Details[] {
  const password = (change_type: string) => [{ credential_type: 'password', change_type }];
  if (eventType === 'user.account.reset_password') return password('revoke');
  if (eventType === 'user.account.update_password') {
    if (after.hasPassword === false) return password('delete');
    return password(before.passwordChanged === null ? 'create' : 'update');
  }
  const [former, present] = [factorsOf(before), factorsOf(after)];
  const changed =
    eventType === 'user.mfa.factor.activate'
      ? present.filter(({ id }) => former.every((one) => one.id !== id))
      : former.filter(({ id }) => present.every((one) => one.id !== id));
  const change_type = CHANGES[eventType];
  return changed.map(({ type }) => ({ credential_type: CREDENTIALS[type] ?? type, change_type }));
}

const CHANGES: Readonly<Record<string, string>> = {
  'user.mfa.factor.activate': 'create',
  'user.mfa.factor.deactivate': 'delete',
  'user.mfa.factor.reset_all': 'revoke',
};

/** CAEP 1.0 section 3.3.1 allows own values: other types keep their name. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  TOTP: 'app',
  PASSKEY: 'fido2-roaming',
  SMS: 'phone-sms',
  CALL: 'phone-voice',
  EMAIL: 'email',
};

interface ChangedFactor {
  readonly id: unknown;
  readonly type: string;
}

/** Either a list of all, or the added one. */
function factorsOf(members: Details): readonly ChangedFactor[] {
  const listed = Array.isArray(members.factors) ? members.factors : members.id === undefined ? [] : [members];
  return listed.map(membersOf).map(({ id, type }) => ({ id, type: String(type) }));
}

const membersOf = (value: unknown): Details => (typeof value === 'object' && value !== null ? (value as Details) : {});
