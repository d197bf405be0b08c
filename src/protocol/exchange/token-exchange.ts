/**
 * Token exchange (RFC 8693): an application that has a user's token gets another one, to call a further API on behalf of the user. The new
 * token never grants more than the presented one: scopes, expiry and binding follow from it.
 */

import type { IdJagTarget } from '../../features/applications/application-settings.policy.ts';
import type { AuditEvent } from '../../features/audit/events.resource.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { TOKEN_EXCHANGE_GRANT } from '../../features/policies/access-policy.policy.ts';
import { assertedScopes, exchangedScopes, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { type AccessToken, type Client, errors, type KoaContextWithOIDC, type Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { checkFapi2Client } from '../servers/fapi2.ts';
import type { Account } from '../storage/protocol-state.store.ts';
import { currentRequest } from '../storage/request-state.ts';
import { requestedAudiences } from '../token/audience.ts';
import { bindToken } from '../token/proof-of-possession.ts';
import { type DelegatedTokens, EXCHANGED } from './delegated-tokens.ts';
import { idJagFor, issueIdJag, type Signer } from './id-jag.ts';
import { type Act, type IdentityParts, identify, type PresentedIdentity, type Presenter } from './presented-identity.ts';
import { ID_JAG, TOKEN_TYPES } from './token-types.ts';

export const EXCHANGE_PARAMETERS = [
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
  'requested_token_type',
  'scope',
];

/** Maximum length of the actor chain of a token. */
const MOST_ACTORS = 5;

export interface ExchangeParts extends IdentityParts {
  readonly provider: Provider;
  readonly scopes: readonly Scope[];
  readonly delegated: DelegatedTokens;
  /** The server's signing key for the client. */
  signerFor(client: object): Signer;
  /** Evaluates the access policies for values that are not tokens of this server. @throws {errors.AccessDenied} */
  evaluate(issued: {
    readonly kind: string;
    readonly accountId: string;
    readonly clientId: string;
    readonly gty: string;
    readonly rar?: readonly AuthorizationDetail[] | undefined;
    scope: string;
  }): Promise<void>;
  /** @returns the audit event that is written with the token */
  exchanged(ctx: KoaContextWithOIDC, exchange: Exchange): AuditEvent;
}

interface Exchange {
  readonly user: { readonly id: string; readonly login: string };
  readonly act: Act;
  readonly scope: string;
  /** ID-JAG: the target authorization server. */
  readonly audience?: string;
}

/** @returns the handler that oidc-provider calls for the grant type after client authentication */
export function tokenExchange(parts: ExchangeParts): (ctx: KoaContextWithOIDC) => Promise<void> {
  return async (ctx) => {
    const { client, params } = ctx.oidc;
    if (client === undefined || params === undefined) throw new Error('the client is authenticated before the grant is carried out');
    if (client.tokenEndpointAuthMethod === 'none')
      throw new errors.UnauthorizedClient('a public application cannot exchange tokens. Set a token_endpoint_auth_method');
    const { tokenExchangeAudiences: audiences } = clientSettings(client);
    const presenter: Presenter = { client, clientId: client.clientId, audiences, grantType: TOKEN_EXCHANGE_GRANT, scope: params.scope };
    const issuedType = requestedType(params, parts.own);
    const subject = await identify(parts, { name: 'subject_token', ...tokenIn(params, 'subject_token') }, presenter);
    const { account } = subject;
    if (account === undefined) throw new errors.InvalidRequest('subject_token: it was issued to an application. Send the token of a user');
    const actor = params.actor_token === undefined ? undefined : await actorOf(parts, params, presenter);
    if (actor === undefined && params.actor_token_type !== undefined)
      throw new errors.InvalidRequest('actor_token_type requires actor_token');
    const act = actingFor(actor?.sub ?? client.clientId, subject.act);
    if (issuedType === ID_JAG) return exchangeForIdJag(parts, ctx, { ...subject, account }, act);

    const { consentMethod } = clientSettings(client);
    // A provider cannot consent for the user.
    const scopesOf = subject.clientId === undefined ? assertedScopes : exchangedScopes;
    const { granted, refused } = scopesOf(spaceSeparated(params.scope), parts.scopes, consentMethod, subject.scopes);
    if (refused.length > 0)
      throw new errors.InvalidScope('a requested scope does not exist, or the subject token does not have it', refused.join(' '));
    const scope = granted.join(' ');

    const grantId = subject.grantId ?? (await newGrant(parts.provider, account.id, client.clientId));
    if (subject.orgId !== undefined) currentRequest()?.organizations.set(grantId, subject.orgId);
    const token = new parts.provider.AccessToken({
      accountId: account.id,
      client,
      grantId,
      gty: EXCHANGED,
      scope: scope === '' ? undefined : scope,
    } as ConstructorParameters<typeof parts.provider.AccessToken>[0]);
    Object.assign(token, { acr: subject.acr, authTime: subject.authTime });
    parts.delegated.note(token, { act, expiresAt: subject.expiresAt, details: subject.details });
    currentRequest()?.accounts.set(account.id, account);
    await bindToken(parts.provider, ctx, token);
    requireBinding(subject, token, client.clientId);
    ctx.oidc.entity('AccessToken', token);
    const access_token = await token.save();
    currentRequest()?.writes.events.push(parts.exchanged(ctx, { user: account, act, scope }));
    const described = { token_type: token.tokenType, expires_in: token.expiration, scope, authorization_details: token.rar };
    ctx.body = { access_token, issued_token_type: issuedType, ...described };
  };
}

/**
 * The ID-JAG is for an application's own user with a session here, and for a server that an administrator has listed. Access policies are
 * evaluated as for a token, with the scopes of the other server.
 */
async function exchangeForIdJag(
  parts: ExchangeParts,
  ctx: KoaContextWithOIDC,
  subject: PresentedIdentity & { readonly account: Account },
  act: Act,
): Promise<void> {
  const { client, params } = ctx.oidc;
  if (client === undefined || params?.subject_token_type !== TOKEN_TYPES.idToken || subject.clientId !== client.clientId)
    throw new errors.InvalidRequest('subject_token: an ID-JAG requires an ID token that this service issued to the application');
  if (params.actor_token !== undefined) throw new errors.InvalidRequest('actor_token cannot be used with an ID-JAG');
  const { account } = subject;
  checkFapi2Client(client, parts.own.server);
  const { target, claims } = targetOf(parts, ctx, client);
  const sub = await subjectAt(parts, target, account.id);
  const scope = claims.scope ?? '';
  const issued = {
    kind: 'IdJag',
    accountId: account.id,
    clientId: client.clientId,
    gty: EXCHANGED,
    rar: claims.authorization_details,
    scope,
  };
  parts.delegated.note(issued, { act, expiresAt: subject.expiresAt });
  await parts.evaluate(issued);
  let jkt: string | undefined;
  await bindToken(parts.provider, ctx, {
    setThumbprint(kind, input) {
      if (kind === 'jkt') jkt = input;
    },
  });
  ctx.body = await issueIdJag(parts.own.issuer, parts.signerFor(client), claims, { ...subject, sub }, jkt);
  currentRequest()?.writes.events.push(parts.exchanged(ctx, { user: account, act, scope, audience: claims.aud }));
}

function targetOf({ isOurs }: ExchangeParts, { oidc: { body = {}, params } }: KoaContextWithOIDC, client: Client) {
  const { audience, resource, authorization_details: details } = body as Parameters;
  return idJagFor({
    clientId: client.clientId,
    targets: clientSettings(client).idJagTargets,
    audience: requestedAudiences({ audience }),
    resource: requestedAudiences({ resource }),
    scope: spaceSeparated(params?.scope).join(' '),
    details,
    isOurs,
  });
}

/**
 * @returns `sub` that the other server has received in its own sign-ins here (section 5 of the draft)
 * @throws {errors.InvalidTarget} the other server cannot sign users in here any more, or not this user
 */
async function subjectAt(
  { directory, provider, subjects }: ExchangeParts,
  { relying_party: id }: IdJagTarget,
  userId: string,
): Promise<string> {
  if (id === undefined) return userId;
  const relyingParty = await provider.Client.find(id);
  if (relyingParty === undefined) throw new errors.InvalidTarget('the relying_party of the audience must be an active application');
  if (clientSettings(relyingParty).assignment === 'ASSIGNED' && !(await directory.isAssigned(id, userId)))
    throw new errors.InvalidTarget('the user is not assigned to the relying_party of the audience');
  return subjects.of(relyingParty, userId);
}

type Parameters = Readonly<Record<string, unknown>>;

function tokenIn(params: Parameters, name: 'subject_token' | 'actor_token'): { readonly token: string; readonly type: string } {
  const [token, type] = [params[name], params[`${name}_type`]];
  const missing = Object.entries({ [name]: token, [`${name}_type`]: type }).flatMap(([key, value]) => (value === undefined ? [key] : []));
  if (missing.length > 0) throw new errors.InvalidRequest(`missing required parameter(s): ${missing.join(', ')}`);
  return { token: String(token), type: String(type) };
}

const actorOf = (parts: ExchangeParts, params: Parameters, presenter: Presenter): Promise<PresentedIdentity> =>
  identify(parts, { name: 'actor_token', ...tokenIn(params, 'actor_token') }, presenter);

/** RFC 8693 section 2.2.1. @returns `issued_token_type` @throws {errors.InvalidRequest} */
function requestedType({ requested_token_type: requested }: Parameters, { server }: IdentityParts['own']): string {
  const offered: readonly unknown[] = [
    undefined,
    TOKEN_TYPES.accessToken,
    ...(server.accessTokenFormat === 'jwt' ? [TOKEN_TYPES.jwt] : []),
    ID_JAG,
  ];
  if (!offered.includes(requested))
    throw new errors.InvalidRequest(`requested_token_type must be ${offered.slice(1).join(' or ')} at this authorization server`);
  return requested === undefined ? TOKEN_TYPES.accessToken : String(requested);
}

/** @param before earlier actors (RFC 8693 section 4.1) @throws {errors.InvalidRequest} too many */
function actingFor(sub: string, before: Act | undefined): Act {
  let actors = 1;
  for (let one = before; one !== undefined; one = one.act) actors += 1;
  if (actors > MOST_ACTORS) throw new errors.InvalidRequest(`subject_token: more than ${MOST_ACTORS - 1} applications act in it already`);
  return before === undefined ? { sub } : { sub, act: before };
}

async function newGrant(provider: Provider, accountId: string, clientId: string): Promise<string> {
  return new provider.Grant({ accountId, clientId }).save();
}

/**
 * The holder of a bound token proves the same key. This includes the presenter of a provider's token, which is for this server without an
 * API between. An API has another key, so its new token is bound to that one.
 * @throws {errors.InvalidRequest}
 */
function requireBinding({ jkt, x5t, clientId }: PresentedIdentity, token: AccessToken, presenterId: string): void {
  if (jkt === undefined && x5t === undefined) return;
  const isHolder = clientId === undefined || clientId === presenterId;
  const isSame = jkt === undefined ? token['x5t#S256'] === x5t : token.jkt === jkt;
  if (isHolder ? isSame : token.jkt !== undefined || token['x5t#S256'] !== undefined) return;
  throw new errors.InvalidRequest(
    isHolder
      ? 'subject_token: it is bound to a key. Send a DPoP proof signed with that key, or use its certificate'
      : 'subject_token: it is bound to a key, so the new token must be bound too. Send a DPoP proof or use a client certificate',
  );
}
