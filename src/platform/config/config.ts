/**
 * Parses the environment; the only reader of `process.env`. All problems are reported together, so that an operator can correct them at
 * once. docs/reference/environment.md describes the variables.
 */
import { isIP } from 'node:net';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { readSecretKeys } from '../crypto/secrets.ts';
import { attributesIn, serversIn, WRITING } from '../database/writable-server.ts';
import { numberBetween, toggle } from './fields.ts';
import { readTelemetry, TELEMETRY_VARIABLES, type TelemetryConfig } from './telemetry.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const postgresUrl = z
  .string()
  .refine(
    (value) => /^postgres(ql)?:\/\//.test(value) && serversIn(value).every((server) => URL.canParse(server)),
    'must be a URL that begins with postgres://',
  )
  .refine(
    (value) => !serversIn(value).every((server) => URL.canParse(server)) || WRITING.includes(attributesIn(value)),
    `must not connect to a read-only server: target_session_attrs can be ${WRITING.join(' or ')}`,
  );

const replicaUrl = postgresUrl.refine((value) => serversIn(value).length === 1, 'must name one server');

const secretKeys = z
  .string()
  .transform(readSecretKeys)
  .refine(
    (keys) => keys !== undefined,
    'must be 32 random bytes in base64url, 43 characters (several, separated by commas, to rotate); make one with: openssl rand -base64 32 | tr "+/" "-_" | tr -d "="',
  );

const baseUrl = z
  .string()
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), 'must be a URL that begins with https:// or http://')
  .refine(
    (value) => !URL.canParse(value) || (new URL(value).pathname === '/' && !/[?#@]/.test(value)),
    'must name scheme, host and port only, without path, query or user',
  );

/** Loopback only. Certificates are public: in a larger network, anyone could send a client's certificate in the header. */
const THIS_MACHINE = ['127.0.0.0/8', '::1'];

const isRange = (range: string): boolean => (range.includes('/') ? ipaddr.isValidCIDR(range) : ipaddr.isValid(range));

/** An address, with a port if it is not 53. */
const isDnsServer = (server: string): boolean => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(server) ?? [];
  return isIP(server) === 6 || (isIP(bracketed ?? plain ?? '') === (bracketed === undefined ? 4 : 6) && Number(port ?? 53) <= 65535);
};

/** A single address without characters that could start another header (RFC 5322 section 3.6.2). */
const MAIL_FROM = /^([^<>,;:"\p{C}]*|"[^<>"\p{C}]*")<[^\s<>@,;:"\p{C}]+@[^\s<>@,;:"\p{C}]+>$|^[^\s<>@,;:"\p{C}]+@[^\s<>@,;:"\p{C}]+$/u;

const environment = z.object({
  PORT: numberBetween(1, 65535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  BASE_URL: baseUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  READ_DATABASE_URL: replicaUrl.optional(),
  READ_DATABASE_MAX_LAG_MS: numberBetween(100, 60_000).optional(),
  NOTIFICATIONS: z.enum(['listen', 'poll'], { error: 'must be listen or poll' }).default('listen'),
  DATA_DIR: z.string().default('./data'),
  SECRET_KEY: secretKeys.optional(),
  ADMIN_USERNAME: z.string().trim().min(1, 'must not be empty').max(255, 'must be at most 255 characters').default('admin'),
  ADMIN_PASSWORD: z.string().min(8, 'must have at least 8 characters').max(1024, 'must be at most 1024 characters').optional(),
  ADMIN_API_TOKEN: z
    .string()
    .min(32, 'must have at least 32 characters')
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  TRUST_PROXY: z
    .string()
    .regex(/^(off|false|\d|1[0-6])$/, 'must be off, or the number of proxies in front (1 to 16)')
    .transform((value) => (/^\d/.test(value) ? Number(value) : 0))
    .default(0),
  ALLOW_INSECURE_HTTP: toggle.default(false),
  ALLOW_PRIVATE_NETWORK: toggle.default(false),
  WORKERS: numberBetween(1, 256).default(1),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
  RATE_LIMITS: toggle.default(true),
  MTLS_HEADER: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header, such as Client-Cert')
    .transform((name) => name.toLowerCase())
    .optional(),
  MTLS_PROXIES: z
    .string()
    .transform((list) => list.split(',').map((range) => range.trim()))
    .refine((ranges) => ranges.every(isRange), 'must be IP addresses or networks such as 10.0.0.0/8, separated by commas')
    .default(THIS_MACHINE),
  MTLS_CA_FILE: z.string().optional(),
  MTLS_BASE_URL: baseUrl.optional(),
  STRICT_ASSERTION_AUDIENCE: toggle.default(false),
  PASSKEY_RP_ID: z
    .string()
    .toLowerCase()
    .regex(
      /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be a host name, such as login.example.com',
    )
    .optional(),
  DNS_SERVERS: z
    .string()
    .transform((list) => list.split(',').map((server) => server.trim()))
    .refine(
      (servers) => servers.every(isDnsServer),
      'must be IP addresses separated by commas, with a port unless it is 53: 192.0.2.53, [2001:db8::53]:5353',
    )
    .optional(),
  GEO_DATABASE_FILE: z.string().optional(),
  SMTP_URL: z
    .string()
    .refine((value) => /^smtps?:\/\//.test(value) && URL.canParse(value), 'must be a URL that begins with smtp:// or smtps://')
    .optional(),
  MAIL_FROM: z.string().regex(MAIL_FROM, 'must be an e-mail address, or a name and an address: Example <id@example.com>').optional(),
  PLAYGROUND: toggle.optional(),
  ...TELEMETRY_VARIABLES,
});

/** Names of all variables, for the documentation's test. */
export const ENVIRONMENT_VARIABLES = Object.keys(environment.shape);

/** All configuration, parsed and frozen. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Public base URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Is the public base https? Decides cookie names and the Secure attribute. */
  readonly secure: boolean;
  /** Is the public base a loopback host? Playground and dev inbox depend on it. */
  readonly loopback: boolean;
  /** Absent: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  /** A replica for introspection and userinfo, and its maximum age in milliseconds. Absent: they read the primary. */
  readonly readDatabase: { readonly url: string; readonly maxLag: number } | undefined;
  /** How changes by other processes are detected: LISTEN on a direct connection, or polling, which also works through a pooler. */
  readonly notifications: 'listen' | 'poll';
  /** Absolute path. */
  readonly dataDir: string;
  /** Newest first; absent: generated into `dataDir` (embedded database only). */
  readonly secretKeys: readonly Buffer[] | undefined;
  readonly admin: { readonly username: string; readonly password: string | undefined; readonly apiToken: string | undefined };
  /** Number of trusted proxies in front; 0 = none. */
  readonly trustProxy: number;
  readonly allowInsecureHttp: boolean;
  readonly allowPrivateNetwork: boolean;
  readonly workers: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly rateLimits: boolean;
  /** Client certificates from a proxy (RFC 8705); absent: none. */
  readonly mtls:
    | {
        /** The header with the certificate, in lower case. */
        readonly header: string;
        /** Addresses and networks of the proxies that may send the header. */
        readonly proxies: readonly string[];
        /** CAs of client certificates, PEM; absent: only individually registered certificates are accepted. */
        readonly caFile: string | undefined;
        /** Address at which the proxy requests certificates, if it differs from `baseUrl`. */
        readonly baseUrl: string | undefined;
      }
    | undefined;
  /** Must client assertions name the issuer as their audience, and not the token endpoint? */
  readonly strictAssertionAudience: boolean;
  /** The relying party ID of passkeys (WebAuthn); absent: the host of `baseUrl`. */
  readonly passkeyRpId: string | undefined;
  /** DNS servers for domain verification, `address` or `address:port`; empty: those of the system. */
  readonly dnsServers: readonly string[];
  /** A database of countries in the MaxMind DB format; absent: addresses have no country. */
  readonly geoDatabaseFile: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly playground: boolean;
  /** Absent: no traces and metrics are exported. */
  readonly telemetry: TelemetryConfig | undefined;
}

/** All problems of the environment, one sentence per variable. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Is this host name or address the machine itself (RFC 6761 section 6.3, RFC 5735)? */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return isIP(bare) === 4 ? bare.startsWith('127.') : bare === '::1';
}

/**
 * Reads the environment.
 * @throws {ConfigurationError} listing every problem, never the value of a secret.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // An empty variable counts as not set, because shells and compose files omit variables that way.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);

  if (given.DATABASE_URL !== undefined && given.SECRET_KEY === undefined) {
    problems.push(
      'SECRET_KEY is required with DATABASE_URL: every process needs the same key. Make one with: openssl rand -base64 32 | tr "+/" "-_" | tr -d "="',
    );
  }
  if (given.DATABASE_DIRECT_URL !== undefined && given.DATABASE_URL === undefined) {
    problems.push('DATABASE_DIRECT_URL requires DATABASE_URL: set both, or remove it');
  }
  if (given.READ_DATABASE_URL !== undefined && given.DATABASE_URL === undefined) {
    problems.push('READ_DATABASE_URL requires DATABASE_URL: set both, or remove it');
  }
  if (given.READ_DATABASE_URL !== undefined && given.READ_DATABASE_MAX_LAG_MS === undefined) {
    problems.push(
      'READ_DATABASE_MAX_LAG_MS is required with READ_DATABASE_URL: the longest time that a revoked token may still count as active',
    );
  }
  if (given.READ_DATABASE_MAX_LAG_MS !== undefined && given.READ_DATABASE_URL === undefined) {
    problems.push('READ_DATABASE_MAX_LAG_MS requires READ_DATABASE_URL: set both, or remove it');
  }
  if (given.SMTP_URL !== undefined && given.MAIL_FROM === undefined) {
    problems.push('MAIL_FROM is required with SMTP_URL: the sender address of e-mails');
  }
  if (given.MTLS_HEADER !== undefined && parsed.success && parsed.data.TRUST_PROXY === 0) {
    problems.push('MTLS_HEADER requires TRUST_PROXY: the certificate comes from the proxy in front');
  }
  for (const name of ['MTLS_PROXIES', 'MTLS_CA_FILE', 'MTLS_BASE_URL']) {
    if (given[name] !== undefined && given.MTLS_HEADER === undefined) problems.push(`${name} requires MTLS_HEADER: set both, or remove it`);
  }
  const port = parsed.success ? parsed.data.PORT : 3000;
  const base = new URL(given.BASE_URL !== undefined && URL.canParse(given.BASE_URL) ? given.BASE_URL : `http://localhost:${port}`);
  const loopback = isLoopbackHost(base.hostname);
  const insecureAllowed = parsed.success && parsed.data.ALLOW_INSECURE_HTTP;
  if (base.protocol === 'http:' && !loopback && !insecureAllowed) {
    problems.push('BASE_URL must be https unless it is a loopback address; on a test network set ALLOW_INSECURE_HTTP=true');
  }
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems);

  const read = parsed.data;
  return Object.freeze({
    port: read.PORT,
    host: read.HOST,
    baseUrl: base.origin,
    secure: base.protocol === 'https:',
    loopback,
    databaseUrl: read.DATABASE_URL,
    databaseDirectUrl: read.DATABASE_DIRECT_URL ?? read.DATABASE_URL,
    readDatabase:
      read.READ_DATABASE_URL === undefined || read.READ_DATABASE_MAX_LAG_MS === undefined
        ? undefined
        : Object.freeze({ url: read.READ_DATABASE_URL, maxLag: read.READ_DATABASE_MAX_LAG_MS }),
    notifications: read.NOTIFICATIONS,
    dataDir: path.resolve(read.DATA_DIR),
    secretKeys: read.SECRET_KEY,
    admin: Object.freeze({ username: read.ADMIN_USERNAME, password: read.ADMIN_PASSWORD, apiToken: read.ADMIN_API_TOKEN }),
    trustProxy: read.TRUST_PROXY,
    allowInsecureHttp: read.ALLOW_INSECURE_HTTP,
    allowPrivateNetwork: read.ALLOW_PRIVATE_NETWORK,
    workers: read.WORKERS,
    logLevel: read.LOG_LEVEL,
    rateLimits: read.RATE_LIMITS,
    mtls:
      read.MTLS_HEADER === undefined
        ? undefined
        : Object.freeze({
            header: read.MTLS_HEADER,
            proxies: read.MTLS_PROXIES,
            caFile: read.MTLS_CA_FILE,
            baseUrl: read.MTLS_BASE_URL === undefined ? undefined : new URL(read.MTLS_BASE_URL).origin,
          }),
    strictAssertionAudience: read.STRICT_ASSERTION_AUDIENCE,
    passkeyRpId: read.PASSKEY_RP_ID,
    dnsServers: Object.freeze(read.DNS_SERVERS ?? []),
    geoDatabaseFile: read.GEO_DATABASE_FILE === undefined ? undefined : path.resolve(read.GEO_DATABASE_FILE),
    smtpUrl: read.SMTP_URL,
    mailFrom: read.MAIL_FROM,
    playground: read.PLAYGROUND ?? loopback,
    telemetry: readTelemetry(read),
  });
}
