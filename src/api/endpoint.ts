/**
 * An endpoint of the management API, declared in one place: where it is, what goes in, what comes out, what it does. The schemas are the
 * type, the validation and the whitelist of what leaves; they stay data, so that the API's description can be made from them.
 */
import type { Middleware } from 'koa';
import type { z } from 'zod';
import { notFound } from '../errors.ts';
import type { RequestContext } from '../services/audit.ts';
import type { Services } from '../services/dependencies.ts';
import { isPrintable } from '../services/text.ts';
import { parse, parseBody } from './validation.ts';

/** One call, checked. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly services: Services;
  /** Who calls and from where. */
  readonly request: RequestContext;
}

type Absent = z.ZodUndefined;

export interface Declaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1`, with `:name` for a parameter. */
  readonly path: string;
  /** What it does, in a few words. */
  readonly summary: string;
  readonly params?: P;
  /** Parameters that it does not name are ignored. */
  readonly query?: Q;
  /** A strict object: fields that it does not name are refused, unless the response names them. */
  readonly body?: B;
  /** Whitelist of what leaves; absent: 204 and no body. */
  readonly response?: R;
  /** Of success; 200 unless given, 204 without a response. */
  readonly status?: number;
  handler(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<z.input<R>>;
}

export type Endpoint = Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;

/** Declares an endpoint; its schemas give the handler's types. */
export const endpoint = <
  P extends z.ZodType = Absent,
  Q extends z.ZodType = Absent,
  B extends z.ZodType = Absent,
  R extends z.ZodType = Absent,
>(
  declaration: Declaration<P, Q, B, R>,
): Endpoint => declaration;

/** The last step of a call: check what came in, do it, let out what the response names. */
export function answer(declared: Endpoint, services: Services): Middleware {
  return async (ctx) => {
    const params: Record<string, string> = ctx.params;
    // Such a name cannot be stored, hence nothing has it.
    for (const value of Object.values(params)) if (!isPrintable(value)) throw notFound(ctx.path, 'Resource');

    const result = await declared.handler({
      params: declared.params && parse(declared.params, params),
      query: declared.query && parse(declared.query, ctx.query),
      body: declared.body && parseBody(declared.body, declared.response, ctx.request.body),
      services,
      request: ctx.state.caller.request,
    });
    ctx.status = declared.status ?? (declared.response === undefined ? 204 : 200);
    if (declared.response !== undefined) ctx.body = declared.response.parse(result);
  };
}
