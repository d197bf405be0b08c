/** Reads a request's body: JSON (RFC 8259) of at most a megabyte, and nothing else. */
import { bodyParser } from '@koa/bodyparser';
import type { Middleware } from 'koa';
import { malformedBody } from '../errors.ts';

const readJson = bodyParser({
  enableTypes: ['json'],
  jsonLimit: '1mb',
  onError: (error) => {
    throw malformedBody('type' in error && error.type === 'entity.too.large' ? 'it is larger than 1 MB' : 'it is not a JSON object');
  },
});

/** @throws {ApiError} malformed body, by whatever the body is not */
export const readBody: Middleware = async (ctx, next) => {
  if (!ctx.is('application/json')) throw malformedBody('the Content-Type must be application/json');
  await readJson(ctx, next);
};
