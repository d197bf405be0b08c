/** The five endpoints of resources that belong to another resource: create, list, read, replace and delete. */
import { z } from 'zod';
import type { Access } from '../features/administrators/administration.policy.ts';
import type { Page, Window } from '../platform/database/paging.ts';
import { type Call, type Declaration, type Endpoint, endpoint, listing, type Result } from './endpoint.ts';

type Step = 'create' | 'list' | 'read' | 'replace' | 'remove';

interface Collection<P extends z.ZodRawShape, Q extends z.ZodRawShape, B extends z.ZodType, C extends z.ZodType, R extends z.ZodType, Found>
  extends Pick<Endpoint, 'bodyLimit' | 'examples'> {
  /** Path of the list; single resources are below it by ID. */
  readonly path: string;
  /** Path parameters of the list. */
  readonly params?: z.ZodObject<P>;
  /** The parameter with the ID of one resource. */
  readonly idParam: string;
  readonly access: Access;
  /** Status for a created resource; default 201. */
  readonly status?: number;
  readonly summaries: Readonly<Record<Step, string>>;
  /** Further query parameters of the list. */
  readonly query?: Q;
  readonly body: B;
  /** Body of PUT, if it differs from that of POST. */
  readonly replacement?: C;
  readonly response: R;
  create(call: CallOf<P>, body: z.output<B>): Promise<Found>;
  list(call: CallOf<P>, query: z.output<z.ZodObject<Q>> & Window): Promise<Page<Found>>;
  read(call: CallOf<P>, id: string): Promise<Found>;
  replace(call: CallOf<P>, id: string, body: z.output<C>): Promise<Found>;
  remove(call: CallOf<P>, id: string): Promise<unknown>;
  present(found: Found, call: CallOf<P>): z.input<R> | Promise<z.input<R>>;
}

type CallOf<P extends z.ZodRawShape> = Pick<Call<z.output<z.ZodObject<P>>, unknown, unknown>, 'params' | 'services' | 'request'>;

export function collection<
  P extends z.ZodRawShape,
  Q extends z.ZodRawShape,
  B extends z.ZodType,
  R extends z.ZodType,
  Found,
  C extends z.ZodType = B,
>(declared: Collection<P, Q, B, C, R, Found>): Endpoint[] {
  const { path, params, idParam, access, status = 201, summaries, query, body, response, bodyLimit, examples, present } = declared;
  const itemPath = `${path}/:${idParam}`;
  const itemParams = z.object({ ...params?.shape, [idParam]: z.string().min(1) });
  const written = { response, ...(bodyLimit !== undefined && { bodyLimit }) };
  // The schemas above validate what the types below declare.
  const callOf = (call: unknown) => call as CallOf<P> & { readonly body: never };
  const idOf = (call: { readonly params: unknown }): string => (call.params as Readonly<Record<string, string>>)[idParam] ?? '';
  const shown = async (found: Promise<Found>, call: unknown) => present(await found, callOf(call)) as never;
  return [
    endpoint({
      ...written,
      body,
      ...(examples !== undefined && { examples }),
      method: 'POST',
      path,
      access,
      summary: summaries.create,
      ...(params !== undefined && { params }),
      status,
      handler: (call) => shown(declared.create(callOf(call), callOf(call).body), call),
    }),
    listing({
      path,
      access,
      summary: summaries.list,
      ...(params !== undefined && { params }),
      ...(query !== undefined && { query }),
      item: response,
      async handler(call) {
        const { items, next } = await declared.list(callOf(call), call.query as z.output<z.ZodObject<Q>> & Window);
        return { items: await Promise.all(items.map((found) => present(found, callOf(call)))), next };
      },
    }),
    endpoint({
      method: 'GET',
      path: itemPath,
      access,
      summary: summaries.read,
      params: itemParams,
      response,
      handler: (call) => shown(declared.read(callOf(call), idOf(call)), call),
    }),
    endpoint({
      ...written,
      body: declared.replacement ?? body,
      method: 'PUT',
      path: itemPath,
      access,
      summary: summaries.replace,
      params: itemParams,
      handler: (call) => shown(declared.replace(callOf(call), idOf(call), callOf(call).body), call),
    }),
    endpoint({
      method: 'DELETE',
      path: itemPath,
      access,
      summary: summaries.remove,
      params: itemParams,
      handler: (call) => declared.remove(callOf(call), idOf(call)),
    }),
  ];
}

/** The endpoints that activate and deactivate a resource. @param noun with its article */
export const lifecycleSteps = <P extends z.ZodType, R extends z.ZodType = z.ZodUndefined>({
  path,
  noun,
  set,
  ...rest
}: Pick<Declaration<P, z.ZodUndefined, z.ZodUndefined, R>, 'path' | 'access' | 'params' | 'response'> & {
  readonly noun: string;
  set(call: Call<z.output<P>, undefined, undefined>, status: 'ACTIVE' | 'INACTIVE'): Promise<Result<R>>;
}): readonly Endpoint[] =>
  (
    [
      ['activate', 'ACTIVE'],
      ['deactivate', 'INACTIVE'],
    ] as const
  ).map(([step, status]) =>
    endpoint({
      ...rest,
      method: 'POST',
      path: `${path}/lifecycle/${step}`,
      summary: `Make ${noun} ${status}`,
      handler: (call) => set(call, status),
    }),
  );
