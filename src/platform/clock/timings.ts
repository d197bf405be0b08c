/**
 * Costs, timeouts and intervals. Code reads them on use, so that tests can change them (test/support/short-waits.ts); nothing else does.
 * Milliseconds unless a field says otherwise.
 */

/** The cost of Argon2 (RFC 9106 section 3.1). */
export interface HashCost {
  /** KiB. */
  readonly memoryCost: number;
  /** Passes. */
  readonly timeCost: number;
  /** Lanes. */
  readonly parallelism: number;
}

/** Timeouts of mail servers. */
export interface MailTimeouts {
  /** For the connection, and for the server's greeting. */
  readonly connection: number;
  /**
   * For each response. A server that scans an e-mail before it accepts it needs this time (RFC 5321 section 4.5.3.2.6); after a timeout it
   * would get the e-mail twice.
   */
  readonly silence: number;
  /** For a whole e-mail, in case a server responds byte by byte. */
  readonly mail: number;
}

export interface Timings {
  /** Parameters of the password hash: first choice of OWASP's Password Storage Cheat Sheet. */
  passwordHash: HashCost;
  /** Factor by which a comparison with an imported hash may exceed its measured time on a busy machine. */
  comparisonMargin: number;

  /** Maximum age of cached settings, servers and applications if a notification of a change was lost. */
  cache: number;
  /** For optional work. */
  optional: number;

  /** Interval of polling for changes by other processes, without LISTEN. */
  noticePause: number;

  /** Polling interval of the outbox. */
  outboxPause: number;
  /** The same after a failure, e.g. while the database is down. */
  outboxPauseAfterFailure: number;
  /** Seconds after which another process can claim an outbox entry: longer than any delivery, so longer than `outbound`. */
  outboxClaim: number;

  /** Timeout of a poll for signals without any, and its polling interval. */
  signalPoll: number;
  signalPollPause: number;

  /** Interval of writing when applications were last used. */
  usesPause: number;
  /** Interval of counting the audit log for the dashboard. */
  rollUpPause: number;

  /** For a request to a URL chosen by others. */
  outbound: number;
  /** For a lookup of a breached-password range: a user is waiting. */
  breachedPasswords: number;
  /** For an inline hook, including its retry: a user is waiting. */
  inlineHook: number;
  /** For an e-mail from the outbox. */
  mail: MailTimeouts;
  /** For a test e-mail: an administrator is waiting. */
  testMail: MailTimeouts;

  /** For a connection to the database. */
  databaseConnection: number;
  /** For a statement; the server's limit. */
  databaseStatement: number;
  /** For a response: longer than `databaseStatement`, for a server that does not respond at all. */
  databaseAnswer: number;
  /** For the check whether the database is up. */
  databasePing: number;
  /** Maximum wait in a batch's queue; then the query is refused, like one that waits for a pooled connection. */
  databaseTurn: number;
  /** For the read replica to respond or accept a connection; after that, the primary is used. */
  replicaAnswer: number;
  /** For a server to say whether it accepts writes; one without a network never responds. */
  serverLook: number;
  /** Time without a response before the next server is tried in parallel. */
  serverHeadStart: number;

  /** Interval of looking for unsealed audit events. An event is sealed within ten seconds, including `sealerSilence`. */
  sealPause: number;
  /** Time without a response after which another process replaces the sealer. */
  sealerSilence: number;
}

export const PRODUCTION: Readonly<Timings> = {
  // 19 MiB.
  passwordHash: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
  comparisonMargin: 1.5,

  cache: 3000,
  optional: 1000,

  noticePause: 1000,

  outboxPause: 1000,
  outboxPauseAfterFailure: 5000,
  outboxClaim: 15,

  signalPoll: 20_000,
  signalPollPause: 1000,

  usesPause: 60_000,
  rollUpPause: 60_000,

  outbound: 5000,
  breachedPasswords: 2000,
  inlineHook: 3000,
  mail: { connection: 5000, silence: 30_000, mail: 60_000 },
  testMail: { connection: 5000, silence: 15_000, mail: 20_000 },

  databaseConnection: 5000,
  databaseStatement: 8000,
  databaseAnswer: 10_000,
  databasePing: 2000,
  databaseTurn: 5000,
  replicaAnswer: 500,
  serverLook: 2000,
  serverHeadStart: 500,

  sealPause: 3000,
  sealerSilence: 5000,
};

export const timings: Timings = { ...PRODUCTION };
