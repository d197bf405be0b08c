/** The five endpoints of resources that belong to something: create, list, read, replace and delete, declared once. */
import { z } from 'zod';
import type { Access } from '../features/administrators/administration.policy.ts';
import type { Page, Window } from '../platform/database/paging.ts';
import { type Call, type Declaration, type Endpoint, endpoint, listing } from './endpoint.ts';

type Step = 'create' | 'list' | 'read' | 'replace' | 'remove';

interface Collection<P extends z.ZodRawShape, Q extends z.ZodRawShape, B extends z.ZodType, R extends z.ZodType, Found>
  extends Pick<Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'bodyLimit'> {
  /** Path of the list. One resource is below it by its ID. */
  readonly path: string;
  /** Path parameters of the list. */
  readonly params?: z.ZodObject<P>;
  /** The parameter with the ID of one resource. */
  readonly idParam: string;
  readonly access: Access;
  /** Status for a created resource; default 201. */
  readonly status?: number;
  readonly summaries: Readonly<Record<Step, string>>;
  /** Parameters of the list beside those of the page. */
  readonly query?: Q;
  readonly body: B;
  readonly response: R;
  create(call: CallOf<P>, body: z.output<B>): Promise<Found>;
  list(call: CallOf<P>, query: z.output<z.ZodObject<Q>> & Window): Promise<Page<Found>>;
  read(call: CallOf<P>, id: string): Promise<Found>;
  replace(call: CallOf<P>, id: string, body: z.output<B>): Promise<Found>;
  remove(call: CallOf<P>, id: string): Promise<void>;
  present(found: Found, call: CallOf<P>): z.input<R>;
}

type CallOf<P extends z.ZodRawShape> = Pick<Call<z.output<z.ZodObject<P>>, unknown, unknown>, 'params' | 'services' | 'request'>;

export function collection<P extends z.ZodRawShape, Q extends z.ZodRawShape, B extends z.ZodType, R extends z.ZodType, Found>(
  declared: Collection<P, Q, B, R, Found>,
): Endpoint[] {
  const { path, params, idParam, access, status = 201, summaries, query, body, response, bodyLimit, present } = declared;
  const itemPath = `${path}/:${idParam}`;
  const itemParams = z.object({ ...params?.shape, [idParam]: z.string().min(1) });
  const written = { body, response, ...(bodyLimit !== undefined && { bodyLimit }) };
  // The schemas above check what the types below say.
  const callOf = (call: unknown) => call as CallOf<P> & { readonly body: z.output<B> };
  const idOf = (call: { readonly params: unknown }): string => (call.params as Readonly<Record<string, string>>)[idParam] ?? '';
  const shown = async (found: Promise<Found>, call: unknown) => present(await found, callOf(call)) as never;
  return [
    endpoint({
      ...written,
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
        return { items: items.map((found) => present(found, callOf(call))), next };
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
