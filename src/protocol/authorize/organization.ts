/**
 * The organization that a user signs in for: from the parameter `organization`, by the user's choice, or the only one they belong to. The session
 * stores it for each application, the tokens of a grant keep it (storage/model-adapter.ts), and claims contain it (token/server-claims.ts).
 */
import { isSessionOver, type OrganizationPolicy } from '../../features/organization-policy/organization-policy.policy.ts';
import {
  decideOrganization,
  needsOrganization,
  type OrganizationDecision,
  type SignInOrganization,
} from '../../features/organizations/sign-in-organization.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { errors, interactionPolicy, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { NoteRefusal } from '../servers/refusals.ts';
import { noteUseForOrganization, usedForOrganization } from '../servers/session-device.ts';
import { requestStateOf } from '../storage/request-state.ts';

/** The name of the prompt. */
export const ORGANIZATION = 'organization';
export const NOT_A_MEMBER = 'not_a_member';
const CHOICE_NEEDED = 'choice_needed';

/** Maximum length of an organization's name or ID, in characters. */
const LONGEST = 255;

/** @throws {errors.InvalidRequest} */
export function checkOrganization({ oidc: { params } }: KoaContextWithOIDC): void {
  const { organization } = params ?? {};
  if (organization === undefined) return;
  if (typeof organization !== 'string' || organization.length > LONGEST || !isPrintable(organization))
    throw new errors.InvalidRequest(`organization must be the ID or the name of an organization, at most ${LONGEST} characters`);
}

type ReadOrganizations = (
  userId: string,
  which: { readonly wanted: string | undefined; readonly first: string | undefined },
) => Promise<readonly SignInOrganization[]>;

interface Remembering {
  orgId?: string;
}

const DECIDED = 'gatehouseOrganization';
const ORGANIZATION_ID = 'gatehouseOrganizationId';

interface Decided {
  readonly state: { [DECIDED]?: Promise<OrganizationDecision>; [ORGANIZATION_ID]?: string };
}

/** @returns the ID of the organization that the user signs in for, if it is decided */
export const decidedOrganization = (ctx: KoaContextWithOIDC): string | undefined => (ctx as Decided).state[ORGANIZATION_ID];

export interface SignInOrganizations {
  decide(ctx: KoaContextWithOIDC): Promise<OrganizationDecision>;
  /** The policy of the organization, if one is selected and has a policy. */
  policyOf(ctx: KoaContextWithOIDC): Promise<OrganizationPolicy | undefined>;
  /** Does the organization require a new sign-in? Otherwise, this counts as use of the session. */
  isSessionOver(ctx: KoaContextWithOIDC): Promise<boolean>;
}

/** @param read organizations of a user with their policies; called once per request, and only if the request or the application requires one */
export function signInOrganizations(read: ReadOrganizations): SignInOrganizations {
  /** Cached per request, because several checks need it. */
  function decide(ctx: KoaContextWithOIDC): Promise<OrganizationDecision> {
    const { state } = ctx as Decided;
    state[DECIDED] ??= decideNow(ctx);
    return state[DECIDED];
  }

  async function decideNow(ctx: KoaContextWithOIDC): Promise<OrganizationDecision> {
    const { client, account, params, session, result, entities } = ctx.oidc;
    if (client === undefined || account === undefined || session === undefined) return { kind: 'none' };
    const wanted = typeof params?.organization === 'string' ? params.organization : undefined;
    const { organization: setting } = clientSettings(client);
    if (!needsOrganization({ setting, wanted })) return { kind: 'none' };
    const { organization: answered } = (result ?? {}) as { readonly organization?: string };
    // A new sign-in asks for the organization again.
    const remembered = result?.login === undefined ? (session.authorizationFor(client.clientId) as Remembering).orgId : undefined;
    const chosen = answered ?? remembered;
    const found = await read(account.accountId, { wanted, first: chosen });
    const decision = decideOrganization({ setting, wanted, chosen, found });
    if (decision.kind === 'organization') {
      (session.authorizationFor(client.clientId) as Remembering).orgId = decision.orgId;
      (ctx as Decided).state[ORGANIZATION_ID] = decision.orgId;
      if (entities.Grant?.jti !== undefined) requestStateOf(ctx)?.organizations.set(entities.Grant.jti, decision.orgId);
    }
    return decision;
  }

  async function policyOf(ctx: KoaContextWithOIDC): Promise<OrganizationPolicy | undefined> {
    const decision = await decide(ctx);
    return decision.kind === 'organization' ? (decision.policy ?? undefined) : undefined;
  }

  return {
    decide,
    policyOf,
    async isSessionOver(ctx) {
      const policy = await policyOf(ctx);
      const { session } = ctx.oidc;
      const orgId = decidedOrganization(ctx);
      if (policy === undefined || session === undefined || orgId === undefined) return false;
      const now = epochSeconds();
      if (isSessionOver(policy, { signedInAt: session.loginTs ?? 0, usedAt: usedForOrganization(session, orgId) }, now)) return true;
      if (policy.sessionIdleMinutes !== null) noteUseForOrganization(session, orgId, now);
      return false;
    },
  };
}

export function organizationPrompt({ decide }: SignInOrganizations, refused: NoteRefusal): InstanceType<typeof interactionPolicy.Prompt> {
  const { Check, Prompt } = interactionPolicy;
  return new Prompt(
    { name: ORGANIZATION, requestable: false },
    new Check(NOT_A_MEMBER, 'the user is not a member of the organization', 'access_denied', async (ctx) => {
      if ((await decide(ctx)).kind !== 'not-a-member') return Check.NO_NEED_TO_PROMPT;
      await refused(ctx, { kind: 'not-a-member' });
      return Check.REQUEST_PROMPT;
    }),
    new Check(CHOICE_NEEDED, 'the user must choose an organization', 'interaction_required', async (ctx) =>
      (await decide(ctx)).kind === 'choose' ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
  );
}
