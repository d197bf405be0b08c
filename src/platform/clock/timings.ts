/**
 * Costs and waiting times, in one place. Code reads them when it needs them, so that tests can set others (test/support/short-waits.ts);
 * nothing else changes them. Milliseconds, where a field does not say otherwise.
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
  /** For the connection, and for the greeting. */
  readonly connection: number;
  /** For each answer. A server that looks into a mail before it takes it needs its time (RFC 5321 section 4.5.3.2.6), and would get it twice. */
  readonly silence: number;
  /** For a mail from the first byte to the last: one that answers byte by byte is given up, too. */
  readonly mail: number;
}

export interface Timings {
  /** Parameters of the password hash: first choice of OWASP's Password Storage Cheat Sheet. */
  passwordHash: HashCost;
  /** Factor by which a comparison with an imported hash may exceed its measured time on a busy machine. */
  comparisonMargin: number;

  /** Cached settings, servers and applications may be out of date for so long when the news of a change was lost. */
  cache: number;
  /** For what is good to have and not needed. */
  optional: number;

  /** Between two looks for changes by other processes, where they are not listened for. */
  noticePause: number;

  /** Between two looks for what is due in the outbox … */
  outboxPause: number;
  /** … and after one that failed, as while the database is away. */
  outboxPauseAfterFailure: number;
  /** Seconds after which an entry that a process took is another's: longer than any delivery, hence than `outbound`. */
  outboxClaim: number;

  /** For a poll of signals that finds none, and between two looks while it waits. */
  signalPoll: number;
  signalPollPause: number;

  /** Between two times that the last use of applications is written. */
  usesPause: number;
  /** Between two times that the audit log is counted for the dashboard. */
  rollUpPause: number;

  /** For a request to an address chosen by others. */
  outbound: number;
  /** For a breached-password range: a user is waiting. */
  breachedPasswords: number;
  /** For an inline hook, including its retry: a user is waiting. */
  inlineHook: number;
  /** For a mail of the outbox. */
  mail: MailTimeouts;
  /** For a test e-mail: an administrator is waiting. */
  testMail: MailTimeouts;

  /** For a connection to the database. */
  databaseConnection: number;
  /** For a statement, by the server's own limit. */
  databaseStatement: number;
  /** For an answer: longer than `databaseStatement`, for a server that does not answer at all. */
  databaseAnswer: number;
  /** For a look whether the database is there. */
  databasePing: number;
  /** A question that waits for its turn in a batch is refused after that, as the pool refuses what waits for a connection. */
  databaseTurn: number;
  /** For the read replica to respond or accept a connection; after that, the primary is used. */
  replicaAnswer: number;
  /** For a server to say whether it takes writes, as one that was cut off from the net never does. */
  serverLook: number;
  /** Time without a response before the next server is tried in parallel. */
  serverHeadStart: number;

  /** Between two looks for audit events that are not sealed. An event is sealed ten seconds after it at most, `sealerSilence` included. */
  sealPause: number;
  /** A sealer that is heard of no more while it seals is given up after that. */
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
