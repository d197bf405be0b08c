/**
 * The client registration endpoint (RFC 7591) and the client configuration endpoint (RFC 7592). oidc-provider is not involved, because a
 * client is an application here. Pages of every origin may call them, because cookies are not used.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { RegistrationRefused } from '../../features/registration/client-metadata.service.ts';
import type { ClientRegistration, RegistrationCall } from '../../features/registration/registration.service.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import { bearerToken } from '../servers/credentials.ts';
import { REGISTRATION, registeredClientIn } from '../servers/endpoints.ts';
import { readText } from '../servers/form.ts';
import { sendJson } from '../servers/responses.ts';

/** Bytes. */
const LARGEST_BODY = 32 * 1024;
const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' };

interface RegistrationParts {
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
  readonly issuer: string;
}

/** Is the path a registration endpoint? @param path below the issuer */
export const isRegistration = (path: string): boolean => path === REGISTRATION || registeredClientIn(path) !== undefined;

/** Answers a request to one of the two endpoints. @param connection the sender */
export async function handleRegistration(
  registration: ClientRegistration,
  { server, scopes, issuer }: RegistrationParts,
  { req, res, path }: { readonly req: IncomingMessage; readonly res: ServerResponse; readonly path: string },
  connection: RegistrationCall['connection'],
): Promise<void> {
  if (req.method === 'OPTIONS') return respondToPreflight(res);
  const token = bearerToken(req.headers.authorization);
  const call: RegistrationCall = { server, issuer, scopes: scopes.map(({ name }) => name), token, connection };
  try {
    const id = registeredClientIn(path);
    if (id === undefined) sendJson(res, 201, await registration.register(call, await readJson(req)), ANY_ORIGIN);
    else if (req.method === 'GET') sendJson(res, 200, await registration.read(call, id), ANY_ORIGIN);
    else if (req.method === 'PUT') sendJson(res, 200, await registration.replace(call, id, await readJson(req)), ANY_ORIGIN);
    else {
      await registration.remove(call, id);
      res.writeHead(204, { 'Cache-Control': 'no-store', ...ANY_ORIGIN }).end();
    }
  } catch (error) {
    refuse(res, isUnavailable(error) ? UNAVAILABLE : error);
  }
}

const UNAVAILABLE = new RegistrationRefused(
  'temporarily_unavailable',
  'the service is temporarily unavailable. Try again in a moment',
  503,
  5,
);

function refuse(res: ServerResponse, error: unknown): void {
  if (!(error instanceof RegistrationRefused)) throw error;
  const { code, message, status, retryAfter } = error;
  sendJson(
    res,
    status,
    { error: code, error_description: message },
    {
      ...ANY_ORIGIN,
      ...(status === 401 && { 'WWW-Authenticate': `Bearer error="${code}"` }),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  );
}

/** Fetch standard, section 3.2.2. */
function respondToPreflight(res: ServerResponse): void {
  const headers = {
    'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': 'authorization, content-type',
  };
  res.writeHead(204, { ...ANY_ORIGIN, ...headers, 'Access-Control-Max-Age': '3600', 'Cache-Control': 'no-store' }).end();
}

/** @throws {RegistrationRefused} */
async function readJson(req: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? ''))
    throw new RegistrationRefused('invalid_client_metadata', 'the body must be application/json');
  const text = await readText(req, LARGEST_BODY).catch(() => undefined);
  if (text === undefined) throw new RegistrationRefused('invalid_client_metadata', `the body is larger than ${LARGEST_BODY} bytes`, 413);
  try {
    return JSON.parse(text);
  } catch {
    throw new RegistrationRefused('invalid_client_metadata', 'the body is not JSON');
  }
}
