/** Reads a request's body: JSON (RFC 8259) of limited size. */
import { bodyParser } from '@koa/bodyparser';
import type { Middleware } from 'koa';
import { malformedBody } from '../platform/errors/errors.ts';
import type { Endpoint } from './endpoint.ts';

/** Maximum size in KiB. Parsing blocks all other requests, so callers without a token can send only as much as a sign-in needs. */
const MOST = { withoutToken: 16, ordinary: 64 };

const reader = (kibibytes: number): Middleware =>
  bodyParser({
    enableTypes: ['json'],
    jsonLimit: `${kibibytes}kb`,
    onError: (error) => {
      const isTooLarge = 'type' in error && error.type === 'entity.too.large';
      throw malformedBody(isTooLarge ? `it is larger than ${kibibytes} KiB` : 'it is not a JSON object');
    },
  });

/** @throws {ApiError} malformed body, with the reason */
export const readBody = ({ access, bodyOptional, bodyLimit = MOST.ordinary }: Endpoint): Middleware => {
  const readJson = reader(access === 'anyone' ? MOST.withoutToken : bodyLimit);
  return async (ctx, next) => {
    const type = ctx.is('application/json');
    // Clients send an empty body in two ways: none at all (`is` returns null), or one of no bytes.
    if (bodyOptional && (type === null || ctx.request.length === 0)) return next();
    if (!type) throw malformedBody('the Content-Type must be application/json');
    await readJson(ctx, async () => {
      // U+FFFD replaces bytes that are not valid UTF-8 (RFC 8259 section 8.1).
      if (ctx.request.rawBody?.includes('\ufffd')) throw malformedBody('it is not in UTF-8');
      await next();
    });
  };
};
