/**
 * Fast path for introspection (RFC 7662) and userinfo (OpenID Connect Core section 5.3): plain valid requests are answered with one lookup,
 * without oidc-provider. All others go to the library, which makes all refusals; the lookup is not repeated. Both paths use the same
 * decisions (permission, token contents, claims).
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { ApplicationUses } from '../../features/applications/application-uses.service.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { ReadReplica } from '../../platform/database/database.ts';
import { repeated } from '../authorize/parameters.ts';
import type { WrongSecrets } from '../client-authentication/wrong-secrets.ts';
import type { Client, Provider } from '../library/oidc-provider.ts';
import { basicCredentials, bearerToken } from '../servers/credentials.ts';
import { ROUTES } from '../servers/endpoints.ts';
import { isPlainForm, noteForm, readText } from '../servers/form.ts';
import { sendJson } from '../servers/responses.ts';
import { type Account, type FoundModel, findModel } from '../storage/protocol-state.store.ts';
import { findModelOnReplica } from '../storage/replica-reads.store.ts';
import { noteFailure, shareLookup } from '../storage/request-state.ts';
import { rowKey } from '../storage/row-keys.ts';
import type { ServerState } from '../storage/server-state.ts';
import { type AccessTokenFormat, looksLikeJwt } from '../token/access-token-format.ts';
import { isActive } from '../token/account.ts';
import type { ClaimedToken } from '../token/server-claims.ts';
import { mayReadUserinfo, type UserinfoParts, userinfoResponse } from '../userinfo/userinfo.ts';
import { type IntrospectionParts, introspectionResponse, mayIntrospectTokenOf, wantsSigned } from './introspection.ts';

export interface ShortPathParts {
  readonly provider: Provider;
  readonly issuer: string;
  readonly server: AuthorizationServer;
  readonly state: ServerState;
  readonly format: Pick<AccessTokenFormat, 'handleOf' | 'idTokenClaims'>;
  readonly userinfo: UserinfoParts;
  readonly introspected: IntrospectionParts;
  readonly wrongSecrets: WrongSecrets;
  readonly uses: Pick<ApplicationUses, 'note'>;
  /** Replica whose data may be older, if configured. */
  readonly replica: ReadReplica | undefined;
}

/** @returns the response body; undefined: the library must answer */
type Handler = (parts: ShortPathParts, req: IncomingMessage) => Promise<object | undefined>;

/** Shared by all servers: V8 would optimize functions of each server separately. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  [`POST ${ROUTES.introspection}`]: introspection,
  [`GET ${ROUTES.userinfo}`]: userinfo,
};

/** Answers a request to one of the two endpoints of a server if possible. @returns whether it was answered */
export async function respondByShortPath(parts: ShortPathParts, req: IncomingMessage, res: ServerResponse, path: string): Promise<boolean> {
  const handler = HANDLERS[`${req.method} ${path}`];
  // CORS needs the application, and a query needs the library's parameter checks.
  if (handler === undefined || req.headers.origin !== undefined || req.url?.includes('?')) return false;
  let body: object | undefined;
  try {
    body = await handler(parts, req);
  } catch (failure) {
    // The library reports the error. A second lookup would wait again for a database that hangs.
    noteFailure(req, failure);
  }
  if (body === undefined) return false;
  sendJson(res, 200, body, { Vary: 'Origin' });
  return true;
}

/** Looks a token up for both paths. Results of a replica are used only if plainly valid: unknown tokens and refusals are checked on the primary. */
async function findToken(
  req: IncomingMessage,
  { state, replica }: Pick<ShortPathParts, 'state' | 'replica'>,
  handle: string,
): Promise<FoundModel | undefined> {
  const id = rowKey(handle);
  const onReplica = replica && (await findModelOnReplica(replica, id, state.key, epochSeconds()));
  if (onReplica !== undefined && isPlain(onReplica) && hasOwner(onReplica)) return onReplica;
  const found = state.read((pool) => findModel(pool, id, state.key, epochSeconds()));
  shareLookup(req, id, found);
  return found;
}

async function userinfo(
  { provider, issuer, server, format, userinfo: parts, uses, ...places }: ShortPathParts,
  req: IncomingMessage,
): ReturnType<Handler> {
  const presented = bearerToken(req.headers.authorization);
  if (presented === undefined || req.headers['content-type'] !== undefined) return undefined;
  const found = await findToken(req, places, await format.handleOf(presented));
  const { account } = found ?? {};
  if (found?.model !== 'AccessToken' || !isPlain(found) || !hasOwner(found) || account === undefined) return undefined;
  const client = await provider.Client.find(String(found.payload.clientId));
  // Signed responses are left to the library.
  if (client === undefined || client.userinfoSignedResponseAlg !== undefined || !mayReadUserinfo(found, client, { ...server, issuer }))
    return undefined;
  uses.note(client.clientId);
  return userinfoResponse(account, client, found.payload as ClaimedToken, parts);
}

async function introspection(
  { provider, issuer, format, introspected, wrongSecrets, uses, ...places }: ShortPathParts,
  req: IncomingMessage,
): ReturnType<Handler> {
  const findClient = (id: string) => provider.Client.find(id);
  const credentials = plainCredentials(req.headers.authorization);
  if (credentials === undefined || !isPlainForm(req) || wantsSigned(req) || PROOFS.some((name) => name in req.headers)) return undefined;
  const form = await readSmallForm(req);
  const presented = form?.token;
  // Only a token and a type hint, which the stored row makes redundant.
  if (typeof presented !== 'string' || Object.keys(form ?? {}).some((name) => name !== 'token' && name !== 'token_type_hint'))
    return undefined;
  if (Array.isArray(form?.token_type_hint)) return undefined;

  const client = await findClient(credentials.id);
  // Checked as late as possible: the body may arrive long after the header, and a client that was blocked meanwhile must learn nothing. For
  // encrypted responses the library reports the required Accept header.
  if (client === undefined || client.introspectionEncryptedResponseAlg !== undefined) return undefined;
  if (!wrongSecrets.isAllowed(req, client.clientId) || !isSecretRight(client, credentials.secret)) return undefined;
  const handle = await format.handleOf(presented);
  const found = await findToken(req, places, handle);
  if (found === undefined || !isPlain(found) || !hasOwner(found)) return undefined;
  const ownerId = String(found.payload.clientId);
  const owner = ownerId === client.clientId ? client : await findClient(ownerId);
  if (owner === undefined || !mayIntrospectTokenOf(client, owner)) return undefined;
  uses.note(client.clientId);
  const token = { handle, presented: looksLikeJwt(presented) ? presented : undefined, owner };
  return introspectionResponse(found, token, issuer, introspected);
}

/** Fields of a stored token that this path supports. Tokens with other fields, such as a key binding, go to the library. */
const SUPPORTED_FIELDS: ReadonlySet<string> = new Set([
  ...['kind', 'iat', 'exp', 'clientId', 'accountId', 'grantId', 'gty', 'scope', 'rar', 'extra', 'sid', 'sessionUid', 'resource'],
  ...['acr', 'amr', 'authTime', 'nonce', 'rotations', 'iiat', 'deviceId', 'predecessor', 'orgId'],
]);
/** Empty fields have no meaning. */
const isEmpty = (value: unknown): boolean => value === undefined || value === false;

const isPlain = ({ model, payload, consumedAt, expiresAt }: FoundModel): boolean =>
  payload.kind === model &&
  consumedAt === undefined &&
  Math.floor(expiresAt) > epochSeconds() &&
  Object.keys(payload).every((name) => SUPPORTED_FIELDS.has(name) || isEmpty(payload[name]));

/** An application alone, or with an active user. */
function hasOwner({ model, payload, account }: FoundModel): boolean {
  if (model === 'ClientCredentials') return payload.accountId === undefined && payload.grantId === undefined;
  return (model === 'AccessToken' || model === 'RefreshToken') && typeof payload.grantId === 'string' && isKnown(account);
}

const isKnown = (account: Account | undefined): boolean => account !== undefined && isActive(account);

const LARGEST_FORM = 16 * 1024;

/** Reads the form and keeps it for the library. @returns undefined, without reading, if the length is missing or large */
async function readSmallForm(req: IncomingMessage): Promise<Readonly<Record<string, string | string[] | undefined>> | undefined> {
  const length = Number(req.headers['content-length']);
  if (!(length > 0 && length <= LARGEST_FORM)) return undefined;
  const text = await readText(req, LARGEST_FORM).catch(() => undefined);
  if (text === undefined) return undefined;
  noteForm(req, text);
  const form = parse(text);
  return repeated(form) === undefined ? form : undefined;
}

/** ID and secret if they are the same with and without form encoding (RFC 6749 section 2.3.1). */
function plainCredentials(authorization: string | undefined): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = /^([\w.~-]+):([\w.~-]+)$/.exec(basicCredentials(authorization) ?? '') ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Another client authentication method, which the library refuses beside a secret, and a proof that it checks. */
const PROOFS = ['oauth-client-attestation', 'oauth-client-attestation-pop', 'dpop'];

const BY_SECRET: readonly unknown[] = ['client_secret_basic', 'client_secret_post'];

function isSecretRight(client: Client, secret: string): boolean {
  const { compareClientSecret } = client as Client & { compareClientSecret(secret: string): boolean };
  return BY_SECRET.includes(client.tokenEndpointAuthMethod) && compareClientSecret.call(client, secret);
}

/** A token that an application got for itself and that is not bound to a key. @returns undefined: not such a token, or not valid */
export async function findOwnToken(
  { format, state }: Pick<ShortPathParts, 'format' | 'state'>,
  presented: string,
): Promise<FoundModel | undefined> {
  const id = rowKey(await format.handleOf(presented));
  const found = await state.read((pool) => findModel(pool, id, state.key, epochSeconds()));
  return found?.model === 'ClientCredentials' && isPlain(found) && hasOwner(found) ? found : undefined;
}
