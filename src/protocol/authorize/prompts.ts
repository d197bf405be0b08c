/**
 * Prompts of an authorization request in oidc-provider's terms: sign in, choose an organization, consent; and the grant of the request.
 * features/consents/consent.policy.ts decides whether consent is needed.
 */

import type { IncomingMessage } from 'node:http';
import type { ApplicationOrigin } from '../../features/applications/application-settings.policy.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import {
  decideConsent,
  decideDetailConsent,
  dependsOnRemembered,
  type RequestedDetail,
  type ScopeDecision,
} from '../../features/consents/consent.policy.ts';
import type { ConsentKey } from '../../features/consents/consents.resource.ts';
import { keptScopes } from '../../features/policies/decisions.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import type { RequirementReason } from '../../features/second-factors/second-factor.policy.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { type Configuration, errors, interactionPolicy, type KoaContextWithOIDC, type UnknownObject } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { NoteRefusal } from '../servers/refusals.ts';
import { noteProvider, type SessionDevice, storeSessionDevice } from '../servers/session-device.ts';
import { SECOND_FACTOR_NEEDED, setAcr } from './acr.ts';
import { allowedClaims, scopesOfRequestedClaims } from './claims.ts';
import { decidedOrganization, organizationPrompt, type SignInOrganizations } from './organization.ts';

/** The value of `prompt`, and the name of the prompt. */
export const CREATE = 'create';

const DECISIONS = 'gatehouseConsent';

/** Consent that the current request needs; empty if none, or already answered. */
const pending = (ctx: KoaContextWithOIDC): readonly ScopeDecision[] =>
  ctx.oidc.result?.consent ? [] : ((ctx.state[DECISIONS] ?? []) as readonly ScopeDecision[]).filter(({ ask }) => ask);

const pendingScopes = (ctx: KoaContextWithOIDC): string[] =>
  pending(ctx).flatMap(({ scope, detail }) => (detail === undefined ? [scope] : []));
const pendingDetails = (ctx: KoaContextWithOIDC): AuthorizationDetail[] => pending(ctx).flatMap(({ detail }) => detail ?? []);

/** Is user interaction forbidden (OpenID Connect Core section 3.1.2.1)? */
const isSilent = ({ oidc: { prompts } }: KoaContextWithOIDC): boolean => prompts.has('none');

export interface PromptRules {
  readonly policy: NonNullable<NonNullable<Configuration['interactions']>['policy']>;
  readonly loadExistingGrant: NonNullable<Configuration['loadExistingGrant']>;
}

/**
 * @param remembered reads earlier consents; called only if they can change the decision
 * @param evaluate called before consent; throws if the access policies refuse the request
 * @param secondFactor reason why the signed-in user needs an unused second factor
 * @param describe origin of a request
 * @param isAssigned called for applications that require an assignment
 * @param organizations selects the organization of the sign-in
 * @param noteUse records a sign-in for a client that no administrator created
 * @param requestedDetails the request's authorization details
 * @param refused called when a signed-in user is refused, unless a page can still ask
 */
export function promptRules(
  server: AuthorizationServer,
  scopes: readonly Scope[],
  remembered: (key: ConsentKey) => Promise<readonly string[]>,
  isAssigned: (applicationId: string, userId: string) => Promise<boolean>,
  evaluate: (ctx: KoaContextWithOIDC) => Promise<void>,
  secondFactor: (ctx: KoaContextWithOIDC) => Promise<RequirementReason | undefined>,
  describe: (req: IncomingMessage) => Omit<SessionDevice, 'seen'>,
  refused: NoteRefusal,
  organizations: SignInOrganizations,
  requestedDetails: (ctx: KoaContextWithOIDC) => readonly RequestedDetail[],
  noteUse: (client: { readonly id: string; readonly origin: ApplicationOrigin }, req: IncomingMessage) => Promise<void>,
): PromptRules {
  const byName = new Map(scopes.map((scope) => [scope.name, scope]));
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  const requirements = new WeakMap<KoaContextWithOIDC, RequirementReason>();

  // A user who was deleted or deactivated while signed in must not end in an internal error.
  policy
    .get('login')
    ?.checks.add(
      new Check('account_gone', 'the signed-in user can no longer sign in', 'login_required', (ctx) =>
        ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    );
  policy
    .get('login')
    ?.checks.add(
      new Check('switch_account', 'the user chose to use another account', 'login_required', (ctx) =>
        (ctx.oidc.result as { switchAccount?: boolean } | undefined)?.switchAccount === true
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
      ),
    );
  // Replaces two checks of the library that refuse a stronger class than the requested one.
  for (const reason of ['essential_acrs', 'essential_acr']) policy.get('login')?.checks.remove(reason);
  policy.get('login')?.checks.add(
    new Check(
      SECOND_FACTOR_NEEDED,
      'the signed-in user must use a second factor',
      'login_required',
      async (ctx) => {
        const demandedBy = await secondFactor(ctx);
        if (demandedBy === undefined) return Check.NO_NEED_TO_PROMPT;
        if (isSilent(ctx)) await refused(ctx, { kind: 'second-factor-needed', demandedBy });
        requirements.set(ctx, demandedBy);
        return Check.REQUEST_PROMPT;
      },
      (ctx) => ({ demandedBy: requirements.get(ctx), organization: decidedOrganization(ctx) }),
    ),
  );
  policy.get('login')?.checks.add(
    new Check(
      'organization_session_over',
      'the organization requires its users to sign in again',
      'login_required',
      async (ctx) => ((await organizations.isSessionOver(ctx)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT),
      (ctx) => ({ organization: decidedOrganization(ctx) }),
    ),
  );
  policy.add(
    new Prompt(
      { name: 'assignment', requestable: false },
      new Check('not_assigned', 'the user is not assigned to the application', 'access_denied', async (ctx) => {
        const { client, account } = ctx.oidc;
        if (client === undefined || account === undefined || clientSettings(client).assignment === 'EVERYONE')
          return Check.NO_NEED_TO_PROMPT;
        if (await isAssigned(client.clientId, account.accountId)) return Check.NO_NEED_TO_PROMPT;
        await refused(ctx, { kind: 'not-assigned' });
        return Check.REQUEST_PROMPT;
      }),
    ),
    1,
  );
  policy.add(organizationPrompt(organizations, refused), 2);
  policy.add(
    new Prompt(
      { name: 'access_policy', requestable: false },
      new Check('not_allowed', 'no access policy allows the request', 'access_denied', async (ctx) => {
        await evaluate(ctx);
        return Check.NO_NEED_TO_PROMPT;
      }),
    ),
    3,
  );
  // Before signing in: the application asks for the page on which accounts are created (Initiating User Registration via OpenID Connect 1.0).
  policy.add(new Prompt({ name: CREATE, requestable: true }), 0);
  const consent = policy.get('consent');
  consent?.checks.clear();
  consent?.checks.add(
    new Check(
      'consent_needed',
      'the user has not consented to a requested scope',
      'consent_required',
      async (ctx) => {
        if (pending(ctx).length === 0) return Check.NO_NEED_TO_PROMPT;
        if (isSilent(ctx)) await refused(ctx, { kind: 'consent-required', scopes: keptScopes(ctx.state[DECISIONS] ?? []) });
        return Check.REQUEST_PROMPT;
      },
      (ctx) => ({
        scopes: pendingScopes(ctx),
        details: pendingDetails(ctx),
        decisions: keptScopes(ctx.state[DECISIONS] ?? []),
        organization: decidedOrganization(ctx),
      }),
    ),
  );
  // Nothing grantable was requested, or the user ticked nothing: oidc-provider refuses it too, but without a description.
  consent?.checks.add(
    new Check('nothing_granted', 'no requested scope was granted', 'access_denied', (ctx) => {
      const hasDetails = ((ctx.state[DECISIONS] ?? []) as readonly ScopeDecision[]).some(({ detail }) => detail !== undefined);
      if (pending(ctx).length === 0 && !hasDetails && !ctx.oidc.entities.Grant?.getOIDCScope())
        throw new errors.AccessDenied('none of the requested scopes was granted');
      return Check.NO_NEED_TO_PROMPT;
    }),
  );

  return {
    policy,
    async loadExistingGrant(ctx) {
      const { account, client, params, prompts, result, provider } = ctx.oidc;
      if (account === undefined || client === undefined) return undefined;
      nameSession(ctx.oidc, server.key);
      const { origin } = clientSettings(client);
      if (origin !== 'ADMIN') await noteUse({ id: client.clientId, origin }, ctx.req);
      noteProvider(ctx);
      if (ctx.oidc.session !== undefined) storeSessionDevice(ctx.oidc.session, describe(ctx.req));
      setAcr(ctx);
      const named = new Set([...spaceSeparated(params?.scope), ...scopesOfRequestedClaims(ctx)]);
      const requested = [...named].flatMap((name) => byName.get(name) ?? []);
      const facts = { method: clientSettings(client).consentMethod, prompted: prompts.has('consent'), scopes: requested };
      const key = { userId: account.accountId, applicationId: client.clientId, serverId: server.id };
      const details = requestedDetails(ctx);
      const before = new Set(dependsOnRemembered(facts, details) ? await remembered(key) : []);
      const decisions = decideConsent({ ...facts, remembered: before });
      ctx.state[DECISIONS] = [...decisions, ...decideDetailConsent(details, { ...facts, remembered: before })];

      const answered = new Set(spaceSeparated((result?.consent as { scope?: string } | undefined)?.scope));
      const granted = decisions.filter(({ scope, ask }) => !ask || answered.has(scope)).map(({ scope }) => scope);
      const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
      if (granted.length > 0) grant.addOIDCScope(granted.join(' '));
      // Before the consent page nothing is issued, and the access policies evaluate everything requested.
      const claims = allowedClaims(ctx, [...granted, ...pendingScopes(ctx)]);
      if (claims.length > 0) grant.addOIDCClaims(claims);
      // Assigns the grant an ID. Nothing is stored, because each token contains what it was granted.
      await grant.save();
      return grant;
    },
  };
}

/**
 * Assigns the session ID (`sid`, OpenID Connect Back-Channel Logout 1.0 section 2.1) for the client, if there is none. Derived, not random: concurrent first authorizations get the same one. The
 * session's uid is secret, so one sid reveals nothing about another.
 */
function nameSession({ session, client }: KoaContextWithOIDC['oidc'], serverKey: number): void {
  if (session === undefined || client === undefined || session.sidFor(client.clientId) !== undefined) return;
  session.sidFor(client.clientId, digest(JSON.stringify(['sid', session.uid, serverKey, client.clientId])));
}

/**
 * Address of the hosted page for an interaction. It carries the application, for the link back after the interaction expired, and the language chosen
 * in the previous step.
 */
export function interactionAddress(
  serverId: string,
  { uid, params }: { uid: string; params: UnknownObject },
  ctx: KoaContextWithOIDC,
): string {
  const carried = new URLSearchParams({ application: String(params.client_id) });
  const { language } = ctx.query;
  if (ctx.oidc.route === 'resume' && typeof language === 'string') carried.set('language', language);
  return `/interaction/${serverId}/${uid}?${carried}`;
}
