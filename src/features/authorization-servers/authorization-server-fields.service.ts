/** Schemas of authorization servers and their parts, for the management API and the console. */
import { z } from 'zod';
import { isPrintable, text } from '../../platform/validation/text.ts';
import { ACCESS_GRANT_TYPES, ANY } from '../policies/access-policy.policy.ts';
import { MOST_AUDIENCES } from './audience.policy.ts';
import { ADDITIONAL_ALGS, SIGNING_ALGS } from './signing-keys.policy.ts';

/** Maximum minutes: a day. */
const LONGEST_ACCESS = 1440;
/** Maximum minutes: ten years. */
const LONGEST_REFRESH = 5_256_000;

const audience = text({ least: 1 });

/** A host, or `*.` and a domain for all of its subdomains. */
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a host such as example.com, or *.example.com for all of its subdomains');

/** @returns the two settings that the API and the console show as one list */
export const audiencesIn = ([first, ...further]: readonly string[]) =>
  first === undefined ? {} : { audience: first, furtherAudiences: further };

export const serverFields = {
  name: text({ least: 1 }),
  description: text({ most: 1024 }),
  /** The first is the default one. */
  audiences: z
    .array(audience)
    .min(1)
    .max(MOST_AUDIENCES)
    .refine((all) => new Set(all).size === all.length, 'must not contain duplicate audiences')
    // Requests separate audiences by spaces. The first audience is the default.
    .refine(([, ...further]) => further.every((one) => !/\s/.test(one)), 'must not contain spaces, except in the first audience'),
  profile: z.enum(['service', 'openid', 'fapi2']).meta({
    description:
      'The rules for requests. service: state is required, and only letters, digits, comma, period, underscore and hyphen are allowed in it. openid (OpenID Connect Core): required by Spring Security, Auth.js, oauth2-proxy, Grafana and passport-openidconnect. fapi2: FAPI 2.0 Security Profile. An application can override this setting',
  }),
  accessTokenFormat: z.enum(['opaque', 'jwt']).meta({
    description: 'jwt: APIs verify access tokens with the keys of the server (RFC 9068). opaque: APIs call the introspection endpoint',
  }),
  accessTokenType: z.enum(['at+jwt', 'JWT']).meta({
    description:
      'The header typ of JWT access tokens: at+jwt (RFC 9068), or JWT for APIs that accept no other value, such as Spring Boot with its default settings',
  }),
  accessTokenLifetimeMinutes: z.int().min(1).max(LONGEST_ACCESS),
  refreshTokenLifetimeMinutes: z.int().min(1).max(LONGEST_REFRESH),
  signingAlg: z.enum(SIGNING_ALGS),
  /** In addition to RS256, ES256 and signingAlg. */
  additionalSigningAlgs: z
    .array(z.enum(ADDITIONAL_ALGS))
    .max(ADDITIONAL_ALGS.length)
    .refine((all) => new Set(all).size === all.length, 'must not contain duplicate algorithms'),
  rotationMode: z.enum(['AUTO', 'MANUAL']),
  clientIdMetadata: z.strictObject({
    enabled: z.boolean(),
    /** Hosts, or *. and a domain. Empty: all. */
    allowedDomains: z.array(domain).max(100).default([]),
  }),
  registration: z.strictObject({
    /** TOKEN: with an initial access token; OPEN: for everyone. */
    mode: z.enum(['OFF', 'TOKEN', 'OPEN']),
    /** Hosts, or *. and a domain. Empty: all. */
    allowedRedirectHosts: z.array(domain).max(100).default([]),
    /** Empty: all scopes of the server. */
    allowedScopes: z
      .array(text({ least: 1, most: 100 }))
      .max(1000)
      .default([]),
    /** Days without a sign-in after which a client is deleted. */
    expiresAfterDays: z.int().min(1).max(3650).nullable().default(null),
  }),
};

const claimText = z.string().max(10_000).refine(isPrintable, 'must not contain control characters');
const plainValue = z.union([z.boolean(), z.number()]);

export const claimFields = {
  name: z
    .string()
    .regex(
      /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/,
      'must be 1 to 100 printable ASCII characters without spaces, quotation marks and backslashes',
    ),
  claimType: z.enum(['IDENTITY', 'RESOURCE']),
  valueType: z.enum(['USER_ATTRIBUTE', 'GROUPS', 'ORGANIZATION', 'DEPARTMENT', 'APP_ROLES', 'STATIC']),
  /** Not trimmed: leading and trailing spaces may be intended. The length is limited by the resulting token. */
  value: claimText,
  /** Fixed value of a STATIC claim. */
  staticValue: z.union([claimText, plainValue, z.array(z.union([claimText, plainValue])).max(100)]),
  groupFilterType: z.enum(['STARTS_WITH', 'EQUALS', 'CONTAINS', 'REGEX']),
  status: z.enum(['ACTIVE', 'INACTIVE']),
};

export const policyFields = {
  name: text({ least: 1 }),
  description: text({ most: 1024 }),
  /** From 1. */
  priority: z.int().min(1),
  status: z.enum(['ACTIVE', 'INACTIVE']),
};

export const ruleGrantType = z.enum([...ACCESS_GRANT_TYPES, ANY]);

/** Token settings of a rule; absent ones default to the server's. */
export const tokenActions = z
  .strictObject({
    accessTokenLifetimeMinutes: z.int().min(1).max(LONGEST_ACCESS).exactOptional(),
    /** Since the sign-in. 0: unlimited. */
    refreshTokenLifetimeMinutes: z.int().min(0).max(LONGEST_REFRESH).exactOptional(),
    /** Since the last use. */
    refreshTokenWindowMinutes: z.int().min(1).max(LONGEST_REFRESH).exactOptional(),
    /** Hook of type com.okta.oauth2.tokens.transform; called before the rule's tokens are issued. */
    inlineHook: z.strictObject({ id: text({ least: 1 }) }).exactOptional(),
  })
  .refine(({ refreshTokenLifetimeMinutes: lifetime = 0, refreshTokenWindowMinutes: window = 0 }) => lifetime === 0 || window <= lifetime, {
    path: ['refreshTokenWindowMinutes'],
    message: 'must not be longer than refreshTokenLifetimeMinutes',
  });
