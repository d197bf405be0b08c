/** Reads a request's body: JSON (RFC 8259) of at most a megabyte, and nothing else. */
import { bodyParser } from '@koa/bodyparser';
import type { Middleware } from 'koa';
import { malformedBody } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

const readJson = bodyParser({
  enableTypes: ['json'],
  jsonLimit: '1mb',
  onError: (error) => {
    throw malformedBody('type' in error && error.type === 'entity.too.large' ? 'it is larger than 1 MB' : 'it is not a JSON object');
  },
});

/** @throws {ApiError} malformed body, by whatever the body is not */
export const readBody = ({ bodyOptional }: Endpoint): Middleware => {
  return async (ctx, next) => {
    const type = ctx.is('application/json');
    // Clients post nothing in two ways: no body at all, for which `is` answers null, or one of no bytes.
    if (bodyOptional && (type === null || ctx.request.length === 0)) return next();
    if (!type) throw malformedBody('the Content-Type must be application/json');
    await readJson(ctx, next);
  };
};
