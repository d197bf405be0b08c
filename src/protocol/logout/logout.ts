/**
 * RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0) in a fixed order of checks. It ends the browser session on all servers, but
 * no tokens. Without a hint for the session's user it asks for confirmation, so that no foreign page can sign a user out.
 */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { decodeJwt } from 'jose';
import { findByPostLogoutRedirectUri } from '../../features/applications/application-lists.service.ts';
import type { Config } from '../../platform/config/config.ts';
import { type Keyring, sameSecret } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { type Client, errors, type KoaContextWithOIDC, type Provider } from '../library/oidc-provider.ts';
import { applicationOrigins } from '../servers/application-origins.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { cookies } from '../servers/cookies.ts';
import type { ProtocolPages } from '../servers/error-pages.ts';
import { readProtocolForm } from '../servers/form.ts';
import { requestStateOf } from '../storage/request-state.ts';
import type { Subjects } from '../token/subjects.ts';

export interface LogoutParts {
  readonly provider: Provider;
  readonly subjects: Subjects;
  readonly pages: ProtocolPages;
  readonly keyring: Keyring;
  readonly config: Config;
  readonly database: Database;
  /** Ends the session and writes its audit event. */
  endSession(session: { readonly uid: string; readonly userId: string }, req: IncomingMessage): Promise<void>;
}

const PARAMETERS = ['id_token_hint', 'post_logout_redirect_uri', 'state', 'client_id', 'ui_locales'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number] | 'confirm', string>>;

/** @throws {errors.InvalidRequest} a repeated parameter (RFC 6749 section 3.1), or control characters, some of which PostgreSQL cannot store */
function single(source: Record<string, unknown>): Parameters {
  const read: Parameters = {};
  for (const name of [...PARAMETERS, 'confirm'] as const) {
    const value = source[name];
    if (Array.isArray(value)) throw new errors.InvalidRequest(`${name} must not be provided twice`);
    if (typeof value === 'string' && !isPrintable(value)) throw new errors.InvalidRequest(`${name} contains control characters`);
    if (typeof value === 'string' && value !== '') read[name] = value;
  }
  return read;
}

interface Hint {
  readonly client: Client;
  readonly subject: string;
}

/** @throws {errors.InvalidRequest} not an ID token of this server; an expired one is accepted */
async function readHint(provider: Provider, hint: string): Promise<Hint> {
  try {
    const { aud } = decodeJwt(hint);
    const client = typeof aud === 'string' ? await provider.Client.find(aud) : undefined;
    if (client === undefined) throw new Error('unknown audience');
    const { payload } = (await provider.IdToken.validate(hint, client)) as unknown as { payload: { sub: string } };
    return { client, subject: payload.sub };
  } catch (error) {
    if (error instanceof errors.OIDCProviderError && error.statusCode >= 500) throw error;
    throw new errors.InvalidRequest('the id_token_hint is not an ID token of this authorization server');
  }
}

/** @throws {errors.InvalidClient} the client is named but unknown */
async function namedClient(provider: Provider, id: string | undefined): Promise<Client | undefined> {
  if (id === undefined) return undefined;
  const client = await provider.Client.find(id);
  if (client === undefined) throw new errors.InvalidClient('the application does not exist or is not active');
  return client;
}

/**
 * Step 2: the URI must be registered by the named application, or by any if none is named.
 * @returns the application that registered it; undefined without a URI
 */
async function checkRedirect(
  { post_logout_redirect_uri: uri }: Parameters,
  named: Client | undefined,
  parts: LogoutParts,
): Promise<Client | undefined> {
  if (uri === undefined) return undefined;
  const client = named ?? (await registrantOf(uri, parts));
  if (!client?.postLogoutRedirectUriAllowed(uri))
    throw new errors.InvalidRequest(
      'the post_logout_redirect_uri is not registered. Add it to post_logout_redirect_uris of the application',
    );
  return client;
}

async function registrantOf(uri: string, { provider, database }: LogoutParts): Promise<Client | undefined> {
  const id = await findByPostLogoutRedirectUri(database, uri);
  return id === undefined ? undefined : provider.Client.find(id);
}

function destination(uri: string | undefined, state: string | undefined, config: Config): string {
  if (uri === undefined) return `${config.baseUrl}/signin?signed-out`;
  // Exactly as registered; only the state is added.
  return state === undefined ? uri : `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

/** Proves that the form of the confirmation page came from this browser's session. */
const confirmations = (keyring: Keyring, sessionUid: string): readonly string[] =>
  keyring.keysOf('logout confirmation').map((key) => createHmac('sha256', key).update(sessionUid).digest('base64url'));

/** Answers `GET` and `POST {oauth_base}/logout`. */
export async function handleLogout(ctx: KoaContextWithOIDC, parts: LogoutParts): Promise<void> {
  const { provider, subjects, pages, keyring, config, endSession } = parts;
  ctx.set('Cache-Control', 'no-store');
  // The confirmation form has the request's parameters in its URL, an application's form has them in its body.
  const parameters = single(ctx.method === 'POST' ? { ...ctx.query, ...parse(await readProtocolForm(ctx)) } : ctx.query);
  const hint = parameters.id_token_hint === undefined ? undefined : await readHint(provider, parameters.id_token_hint);
  const named = hint?.client ?? (await namedClient(provider, parameters.client_id));
  Object.assign(requestStateOf(ctx) ?? {}, { clientId: named?.clientId });
  if (hint !== undefined && parameters.client_id !== undefined && parameters.client_id !== hint.client.clientId) {
    throw new errors.InvalidRequest('client_id and id_token_hint must name the same application');
  }
  const { post_logout_redirect_uri: uri } = parameters;
  const registrant = await checkRedirect(parameters, named, parts);
  const go = () => {
    ctx.status = 302;
    ctx.redirect(destination(uri, parameters.state, config));
  };

  const session = await provider.Session.get(ctx);
  if (session.accountId === undefined) return go();
  const proofs = confirmations(keyring, session.uid);
  const { confirm } = parameters;
  const confirmed = ctx.method === 'POST' && confirm !== undefined && proofs.some((proof) => sameSecret(confirm, proof));
  const isTheirs = hint !== undefined && hint.subject === (await subjects.of(hint.client, session.accountId));
  if (!isTheirs && !confirmed) {
    const kept = Object.fromEntries(Object.entries(parameters).filter(([name]) => name !== 'confirm'));
    return pages.logout(ctx, {
      action: `${provider.urlFor('end_session')}?${new URLSearchParams(kept)}`,
      proof: { name: 'confirm', value: proofs[0] ?? '' },
      applicationLabel: named === undefined ? undefined : clientSettings(named).label,
      accountId: session.accountId,
      redirectOrigins: uri === undefined || registrant === undefined ? [] : applicationOrigins(registrant, uri),
      uiLocales: parameters.ui_locales,
    });
  }
  await endSession({ uid: session.uid, userId: session.accountId }, ctx.req);
  const { names, long } = cookies(config, keyring);
  ctx.cookies.set(names?.session ?? '', null, { ...long });
  return go();
}
