/** Parts of the OpenAPI document that do not depend on the endpoints: introduction, tags, error bodies, headers. */
import { z } from 'zod';

export const INTRODUCTION = `The management API of Gatehouse. Every call except reading this document, \`authn\` and \`sessions/me\` needs an API token:
\`Authorization: SSWS <token>\`. A body may send back the fields that an answer carried (id, created, _links); they are ignored,
any other unknown field is refused. Times are written like \`2026-11-21T01:02:03.000Z\`. Lists come in pages; the header Link of an
answer has the address of the next page. Parameters of the query that an operation does not know are ignored.`;

/** The resources in the order of the document. */
export const TAGS: Readonly<Record<string, string>> = {
  organizations: 'Organizations with their departments and members. These operations accept their query parameters in the body, too.',
  users: 'Users: their profiles, life cycle, roles, second factors, sessions and consents.',
  meta: 'User attributes: the built-in ones, and those you add.',
  groups: 'Groups of users.',
  apps: 'Applications: OpenID Connect and OAuth 2.0 clients, their secrets and assignments.',
  authorizationServers: 'Authorization servers: each has its own issuer, keys and token lifetimes.',
  idps: 'Identity providers: OpenID Connect and OAuth 2.0 servers that users sign in with, and the linked accounts there.',
  'api-tokens': 'API tokens authenticate calls to this API. A token has the current roles of the user who created it.',
  logs: 'What happened, who did it and from where.',
  zones: 'Named lists of networks, for the rules of the sign-in policy.',
  eventHooks: 'Endpoints that receive events, signed as Standard Webhooks requires.',
  ssf: 'Signal streams notify applications of revoked sessions and disabled accounts (Shared Signals Framework).',
  provisioning: 'SCIM targets of all applications. Set a target at its application.',
  inlineHooks: 'Inline hooks: endpoints that the service calls during a request, to change tokens, check sign-ups and verify passwords.',
  settings: 'Settings of the whole service.',
  authn:
    'Sign-in by API, without the sign-in page: user name and password, then a second factor if the user has one, then a new password if the old one has expired.',
  sessions: 'The session of the calling browser. Its cookie authenticates the call; no API token is needed.',
  description: 'This document.',
};

/** First segments of paths that belong to another resource. */
const PART_OF: Readonly<Record<string, string>> = { account: 'organizations', internal: 'apps', mappings: 'idps' };

/** @param path of an endpoint */
export function tagOf(path: string): string {
  const [, first = ''] = path.split('/');
  return PART_OF[first] ?? first;
}

const causes = z.array(z.object({ errorSummary: z.string() })).meta({ description: 'One per field, as `field: what is wrong`' });
const errorId = z.string().meta({ description: 'The id of the request, as in X-Request-Id' });

export const refusalBody = z
  .object({ errorCode: z.string(), errorSummary: z.string(), errorLink: z.string(), errorId, errorCauses: causes })
  .meta({ description: 'The body of every error response' });

export const problemDetailsSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errorCode: z.string(),
    errorId,
    errorCauses: causes,
  })
  .meta({ description: 'The same error as Problem Details (RFC 9457), for callers that accept application/problem+json' });

/** Named responses for the reasons why calls are refused. */
export const REFUSALS = {
  Invalid: 'E0000001: a field is not valid, with a cause for each; E0000003: the body is not JSON',
  InvalidToken: 'E0000011: the API token is missing, unknown, expired or revoked',
  NotAuthenticated: 'E0000004: the sign-in failed. The response does not say why; the audit log does',
  Forbidden: 'E0000006: not allowed to this caller; E0000038: not possible in the present state; E0000068: the pass code is wrong',
  NotFound: 'E0000007: there is no such resource',
  NoSession: 'E0000007: the browser has no session',
  OtherSite: 'E0000006: the request comes from a page of another site',
  Conflict: 'E0000014: another resource has the same name or id',
  Failed: 'E0000022 (405): the method; E0000047 (429): too many requests; E0000009 (500, 503): the service, try again',
} as const;

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const;
const count = (description: string) => ({ description, schema: { type: 'integer' } }) as const;

export const COMPONENTS = {
  securityScheme: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An API token after the word SSWS: `SSWS 00abc…`',
  },
  headers: {
    'X-Rate-Limit-Limit': count('Calls per minute allowed for this token'),
    'X-Rate-Limit-Remaining': count('Calls left in this minute'),
    'X-Rate-Limit-Reset': count('When the minute ends, in seconds since 1970-01-01 UTC'),
    'X-Request-Id': text('The ID of this call in the log'),
    Link: text('`<address>; rel="next"` of the next page (RFC 8288); absent on the last one'),
    'Idempotency-Replayed': text(
      '`true`: the service did not run the call again. This is the response to the first call with the same key',
    ),
    'Retry-After': count('Seconds to wait before the next call (RFC 9110 section 10.2.3)'),
    Allow: text('The methods of this path, with 405 (RFC 9110 section 10.2.1)'),
  },
  parameters: {
    RequestId: { name: 'X-Request-Id', in: 'header', ...text('Your own ID for this call. If absent, the service creates one') },
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'A key for this call. A repetition with the same key and content within 24 hours gets the first response and is not carried out again',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    },
  },
} as const;
