/** Parameters that may come in the query or as fields of a JSON body, as those of the organization endpoints do; the query wins (decisions, "Organizations"). */
import type { z } from 'zod';
import { parse } from '../platform/validation/parsing.ts';
import { type Call, type Declaration, type Endpoint, endpoint } from './endpoint.ts';

/**
 * Declares an endpoint with such parameters. Both places are checked, also where the other one wins; what is required may be in either.
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
