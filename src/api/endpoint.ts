/**
 * Declares an endpoint of the management API: path, access, input, output and purpose. The schemas are the types, the validation, the
 * whitelist of the output, and the source of the OpenAPI document.
 */

import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Access } from '../features/administrators/administration.policy.ts';
import type { RequestContext } from '../features/audit/audit-event.policy.ts';
import type { CallingBrowser } from '../features/sessions/browser.api.ts';
import { openCursor, sealCursor } from '../platform/crypto/cursors.ts';
import type { Services } from '../platform/database/dependencies.ts';
import type { Page, Window } from '../platform/database/paging.ts';
import { notFound, validation } from '../platform/errors/errors.ts';
import { parse } from '../platform/validation/parsing.ts';
import { isPrintable } from '../platform/validation/text.ts';
import { wholeNumber } from './fields.ts';
import { type Answered, runOnce } from './idempotency.ts';
import { parseBody } from './validation.ts';

/** A validated call. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly services: Services;
  readonly request: RequestContext;
  /** The calling browser, for operations that identify their caller by the session. */
  readonly browser: CallingBrowser;
  /** Sets the link to the next page (`Link`, RFC 8288). */
  continueAt(cursor: string): void;
}

/** KiB, for resources that list many users, groups, applications or addresses. */
export const LARGE_BODY = 256;

type Absent = z.ZodUndefined;

export interface Declaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1`, with `:name` for a parameter. */
  readonly path: string;
  /** `anyone`: no API token is needed. */
  readonly access: Access | 'anyone';
  /** Short summary of the operation. */
  readonly summary: string;
  readonly params?: P;
  /** Undeclared parameters are ignored. */
  readonly query?: Q;
  /** A strict object: undeclared fields are refused, unless the response has them. */
  readonly body?: B;
  /** Valid bodies by purpose. */
  readonly examples?: Readonly<Record<string, object>>;
  /** Schema of the resource that a caller may have read before and send back; fields that cannot be changed are ignored. Default: the response. */
  readonly readBefore?: z.ZodType;
  /** Maximum size in KiB, if it is larger than usual (body.ts). */
  readonly bodyLimit?: number;
  /** The body may be left out; it then counts as an empty object. */
  readonly bodyOptional?: boolean;
  /** Whitelist of the response; absent: 204 without a body. */
  readonly response?: R;
  /** Descriptions of errors by status, if they differ from the general ones (invalid token, path not found). */
  readonly refusals?: Readonly<Record<number, 'NoSession' | 'OtherSite'>>;
  /** Status of a successful response; default 200, or 204 without a response. */
  readonly status?: number;
  handler(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<Result<R>>;
}

/** Type of the value that a handler returns. Without a response schema the value is ignored. */
export type Result<R extends z.ZodType> = [z.input<R>] extends [undefined] ? unknown : z.input<R>;

export type Endpoint = Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;

/** Declares an endpoint. The handler's types are derived from its schemas. */
export const endpoint = <
  P extends z.ZodType = Absent,
  Q extends z.ZodType = Absent,
  B extends z.ZodType = Absent,
  R extends z.ZodType = Absent,
>(
  declaration: Declaration<P, Q, B, R>,
): Endpoint => declaration;

const listQuery = z.object({
  limit: wholeNumber(1, 200).default(20).meta({ description: 'Elements of a page', default: 20 }),
  after: z.string().max(256).optional().meta({ description: 'Where the page before ended; taken from its link to the next page' }),
});

/** Declares a list in pages according to the API's conventions: `limit`, the cursor `after`, and a link to the next page. */
export const listing = <P extends z.ZodType = Absent, Q extends z.ZodRawShape = Record<never, never>, R extends z.ZodType = Absent>(
  declaration: Pick<Declaration<P, Absent, Absent, R>, 'path' | 'access' | 'summary' | 'params'> & {
    /** Further query parameters. */
    readonly query?: Q;
    readonly item: R;
    handler(call: Call<z.output<P>, z.output<z.ZodObject<Q>> & Window, undefined>): Promise<Page<z.input<R>>>;
  },
): Endpoint => {
  const { query: further, item, handler, ...rest } = declaration;
  return endpoint({
    ...rest,
    method: 'GET',
    query: z.object({ ...further, ...listQuery.shape }),
    response: z.array(item),
    handler: async (call) => {
      const { keyring } = call.services;
      const place = { list: JSON.stringify([rest.path, call.params]), caller: call.request.actor.id };
      const query = call.query as z.output<z.ZodObject<Q>> & z.output<typeof listQuery>;
      const after = query.after === undefined ? undefined : openCursor(keyring, query.after, place);
      if (query.after !== undefined && after === undefined)
        throw validation([{ field: 'after', message: 'must come from the link to the next page' }]);
      const page = await handler({ ...call, query: { ...query, after } });
      if (page.next !== undefined) call.continueAt(sealCursor(keyring, page.next, place));
      return [...page.items];
    },
  });
};

/** Can the call be repeated with an Idempotency-Key? A key belongs to a caller. */
export const isRepeatable = ({ method, access }: Endpoint): boolean => method === 'POST' && access !== 'anyone';

/** Handles a call: validates the input, calls the handler, and filters the output by the response schema. */
export function handle(declared: Endpoint, services: Services): Middleware {
  return async (ctx) => {
    const params: Record<string, string> = ctx.params;
    // Such a name cannot be stored, so nothing has it.
    for (const value of Object.values(params)) if (!isPrintable(value)) throw notFound(ctx.path, 'Resource');

    const { status, body, next } = isRepeatable(declared)
      ? await runOnce(ctx, services, (within) => run(declared, ctx, within))
      : await run(declared, ctx, services);
    ctx.status = status;
    if (body !== undefined) ctx.body = body;
    if (next !== undefined) ctx.append('Link', `<${nextPage(ctx, services, next)}>; rel="next"`);
  };
}

async function run(declared: Endpoint, ctx: Context, services: Services): Promise<Answered> {
  const given = declared.bodyOptional ? (ctx.request.body ?? {}) : ctx.request.body;
  let next: string | undefined;
  const result = await declared.handler({
    params: declared.params && parse(declared.params, ctx.params),
    query: declared.query && parse(declared.query, queryOf(ctx)),
    body: declared.body && parseBody(declared.body, declared.readBefore ?? declared.response, given),
    services,
    request: ctx.state.caller.request,
    browser: ctx.state.browser,
    continueAt: (cursor) => {
      next = cursor;
    },
  });
  const status = declared.status ?? (declared.response === undefined ? 204 : 200);
  return { status, body: declared.response?.parse(result), next };
}

/** @throws {ApiError} validation: a parameter is repeated or not percent-encoded UTF-8 (RFC 3986 section 2.5) */
function queryOf({ query, querystring }: Context): Readonly<Record<string, unknown>> {
  const twice = Object.keys(query).filter((field) => Array.isArray(query[field]));
  const broken = querystring.split('&').filter((pair) => !isEncoded(pair));
  const problems = [
    ...twice.map((field) => ({ field, message: 'must be given only once' })),
    ...broken.map((pair) => ({ field: pair.replace(/=.*$/s, ''), message: 'must be percent-encoded UTF-8' })),
  ];
  if (problems.length > 0) throw validation(problems);
  return query;
}

function isEncoded(pair: string): boolean {
  try {
    decodeURIComponent(pair);
    return true;
  } catch {
    return false;
  }
}

function nextPage(ctx: Context, { config }: Services, after: string): string {
  const url = new URL(config.baseUrl + ctx.path);
  url.search = ctx.search;
  url.searchParams.set('after', after);
  return url.href;
}

// Parameters that can be in the query or in a JSON body, as in the organization endpoints; the query takes precedence (decisions, "Organizations").

/**
 * Declares an endpoint with such parameters. Both places are validated, even if the other one takes precedence. Required parameters may be in either.
 * @param declaration.parameters by name
 */
export const parameterized = <P extends z.ZodType, S extends z.ZodObject, R extends z.ZodType>(
  declaration: Pick<Declaration<P, never, never, R>, 'method' | 'path' | 'access' | 'summary' | 'params' | 'response' | 'readBefore'> & {
    readonly parameters: S;
    handler(call: Call<z.output<P>, unknown, unknown>, given: z.output<S>): Promise<z.input<R>>;
  },
): Endpoint => {
  const { parameters, handler, ...rest } = declaration;
  return endpoint({
    ...rest,
    query: parameters.partial().strip(),
    body: parameters.partial().strict(),
    bodyOptional: true,
    handler: (call) => handler(call, parse(parameters, { ...call.body, ...call.query })),
  });
};
