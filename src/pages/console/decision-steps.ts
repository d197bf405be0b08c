/**
 * What was decided about a request for tokens, and why, in plain sentences: of the simulator, and of whatever else has such a decision to explain. Pure:
 * the decisions themselves are made by policies.
 */

import type { ApplicationSettings } from '../../features/applications/application-settings.policy.ts';
import type { ClaimReason, ClaimStep } from '../../features/claims/custom-claims.policy.ts';
import type { ConsentReason, ScopeDecision } from '../../features/consents/consent.policy.ts';
import type { AccessDecision, AccessGrantType, AccessReason, AccessStep } from '../../features/policies/access-policy.policy.ts';
import type { SimulatedPrompt, Simulation } from '../../features/policies/simulation.policy.ts';
import type { Tone } from './detail-page.ts';

/** A decision, with what must be known of the request to tell it. */
export interface Decided extends Simulation {
  readonly grantType: AccessGrantType;
  readonly prompts: ReadonlySet<SimulatedPrompt>;
  readonly server: { readonly name: string };
  readonly application: { readonly label: string; readonly settings: Pick<ApplicationSettings, 'assignment' | 'consent_method'> };
  /** undefined: the application asks for itself. */
  readonly user: { readonly login: string } | undefined;
  /** undefined: there is no user. */
  readonly isAssigned: boolean | undefined;
}

export interface Verdict {
  readonly tone: Tone;
  /** What happens, in one sentence. */
  readonly sentence: string;
}

const quoted = (name: string): string => `“${name}”`;

/** `a`, `a and b`, `a, b and c`. */
const joined = (words: readonly string[]): string => new Intl.ListFormat('en-GB').format(words);

/** What the application is told, in the words of those who must put it right, by the reason of the refusal. */
const REFUSALS: Readonly<Record<string, (decided: Decided) => string>> = {
  'the authorization server is not active': ({ server }) => `the authorization server ${quoted(server.name)} is deactivated`,
  'the application is not active': ({ application }) => `the application ${quoted(application.label)} is deactivated`,
  'the application may not use this grant': ({ application }) =>
    `the application ${quoted(application.label)} may not use this grant: its settings do not name it, or no response type that goes with it`,
  'no scope was requested, and the authorization server has no default one': () =>
    'no scope was asked for, and the authorization server has none that is asked for by default',
  'the application is not assigned to the user': ({ application, user }) =>
    `the application ${quoted(application.label)} is for those only to whom it is assigned, and ${quoted(user?.login ?? '')} is not among them`,
  'no access policy of the authorization server allows this': ({ access }) =>
    access.policy === undefined
      ? 'no active access policy is for this application'
      : `no active rule of the access policy ${quoted(access.policy.name)} fits`,
  'none of the requested scopes can be granted': () => 'none of the scopes asked for can be granted',
  'the user would have to be asked, and the prompt forbids it': ({ user }) =>
    `${quoted(user?.login ?? '')} would have to be asked for consent, and prompt=none forbids it`,
};

function refusalInWords(decided: Decided): string {
  const { error = '', reason = '' } = decided.refusal ?? {};
  const { refused } = decided.scopes;
  if (error === 'invalid_scope' && refused.length > 0)
    return `${refused.length === 1 ? 'the scope' : 'the scopes'} ${joined(refused.map(quoted))} ${refused.length === 1 ? 'does' : 'do'} not exist here, or cannot be granted in this way`;
  return REFUSALS[reason]?.(decided) ?? reason;
}

/** What the application gets, e.g. “an access token and an ID token”. */
function tokensInWords({ tokens }: Simulation): string {
  return joined([
    ...(tokens?.accessToken === undefined ? [] : ['an access token']),
    ...(tokens?.idToken === undefined ? [] : ['an ID token']),
    ...(tokens?.refreshToken === true ? ['a refresh token'] : []),
  ]);
}

/** The decision in one sentence. */
export function verdictOf(decided: Decided): Verdict {
  const { outcome, refusal, application, user, consent = [] } = decided;
  const who = quoted(application.label);
  const whom = user === undefined ? 'in its own name' : `for ${quoted(user.login)}`;
  if (outcome === 'REFUSED')
    return { tone: 'bad', sentence: `${who} gets no token ${whom}: ${refusalInWords(decided)} (${refusal?.error ?? ''}).` };
  const gets = `gets ${tokensInWords(decided)} ${whom}`;
  if (outcome === 'TOKENS') return { tone: 'good', sentence: `${who} ${gets}.` };
  const asked = joined(consent.filter(({ ask }) => ask).map(({ scope }) => quoted(scope)));
  return { tone: 'warning', sentence: `${quoted(user?.login ?? '')} is asked for consent to ${asked}; having allowed it, ${who} ${gets}.` };
}

/** Is the application there for this user? undefined: there is no user. */
export function assignmentInWords({ application: { label, settings }, user, isAssigned }: Decided): string {
  if (user === undefined) return 'There is no user: the application asks in its own name.';
  if (settings.assignment === 'EVERYONE') return `${quoted(label)} is for every user, so nobody needs to be assigned to it.`;
  return isAssigned === true
    ? `${quoted(label)} is assigned to ${quoted(user.login)}, directly or by a group.`
    : `${quoted(label)} is not assigned to ${quoted(user.login)}, neither directly nor by a group.`;
}

const ACCESS: Readonly<Record<AccessReason, string>> = {
  'the policy is for other clients': 'Passed over: it is for other applications.',
  'the policy is for this client': 'It is for this application, so its rules decide.',
  'the rule is for another grant type': 'Passed over: it is for other grants.',
  'the rule is for other people': 'Passed over: it is for other people.',
  'the rule is for other scopes': 'Passed over: the request is also for scopes that it does not name.',
  'the rule fits': 'It fits, and allows.',
  'no rule of the policy fits': 'None of its active rules fits, so access is denied. Policies after it are not looked at.',
  'no policy is for this client': 'No active policy is for this application, so access is denied.',
};

/** What came of one look at a policy or rule. */
export const stepInWords = ({ reason }: AccessStep): string => ACCESS[reason];

/** Which policy and rule decided, in one sentence. */
export function accessInWords({ allowed, policy, rule }: Pick<AccessDecision, 'allowed'> & NamedAccess): string {
  if (allowed && policy && rule) return `The rule ${quoted(rule.name)} of the access policy ${quoted(policy.name)} allows it.`;
  return policy === undefined
    ? 'No active access policy is for this application, so access is denied.'
    : `The access policy ${quoted(policy.name)} decides, and none of its active rules fits, so access is denied.`;
}

interface NamedAccess {
  readonly policy?: { readonly name: string } | undefined;
  readonly rule?: { readonly name: string } | undefined;
}

const CONSENT: Readonly<Record<ConsentReason, string>> = {
  'scope is granted without a dialog': 'Not asked: the scope is granted without asking.',
  'application is trusted': 'Not asked: the application is trusted.',
  'given before': 'Not asked: the user allowed it before.',
  'the request prompts for consent': 'Asked: the request says prompt=consent.',
  'not given yet': 'Asked: the user has not allowed it yet.',
};

/** The row of the table of consent that decided about a scope. */
export const consentRowInWords = ({ reason }: Pick<ScopeDecision, 'reason'>): string => CONSENT[reason];

/** Is the user asked at all, and why? */
export function consentInWords({ consent, outcome, grantType, application, prompts }: Decided): string {
  if (consent === undefined)
    return grantType === 'password'
      ? 'Nobody is asked: with the password grant there is no page to ask on.'
      : 'Nobody is asked: there is no user.';
  const asked = consent.filter(({ ask }) => ask);
  if (asked.length > 0) {
    const page = `The consent page ${outcome === 'REFUSED' ? 'would ask' : 'asks'} for ${joined(asked.map(({ scope }) => quoted(scope)))}`;
    return prompts.has('consent')
      ? `${page}: the request says prompt=consent.`
      : `${page}: the application needs consent, and the user has not allowed this yet.`;
  }
  if (consent.every(({ reason }) => reason === 'scope is granted without a dialog'))
    return 'No consent page: none of the scopes needs consent.';
  return application.settings.consent_method === 'TRUSTED'
    ? 'No consent page: the application is trusted.'
    : 'No consent page: the user allowed all of it before.';
}

/** What became of a scope that was asked for, or that is asked for by default. */
export function scopeInWords(scope: string, { scopes, outcome, consent, grantType }: Decided): string {
  if (scopes.refused.includes(scope))
    return grantType === 'client_credentials' || grantType === 'password'
      ? 'Refused: it does not exist here, or needs a user who can be asked.'
      : 'Refused: it does not exist here.';
  if (!scopes.granted.includes(scope)) return 'Left out: the application may not refresh tokens in this way.';
  if (outcome === 'REFUSED') return 'Not granted: the request is refused.';
  return consent?.some((decision) => decision.scope === scope && decision.ask) === true ? 'Granted, if the user allows it.' : 'Granted.';
}

const CLAIMS: Readonly<Record<ClaimReason, string>> = {
  included: 'Told.',
  'the claim is inactive': 'Left out: it is not in force.',
  'the claim is for other scopes': 'Left out: none of its scopes is granted.',
  'the application chose other claims': 'Left out of the ID token: the application chose which claims it holds. Userinfo tells it.',
  'the claim is told at userinfo': 'Left out of the ID token: it is told at userinfo.',
  'there is no user': 'Left out: there is no user.',
  'the user has no value for it': 'Left out: there is nothing to tell of this user.',
};

/** What became of a claim of the server's own. */
export const claimInWords = ({ reason }: Pick<ClaimStep, 'reason'>): string => CLAIMS[reason];

/** Everything in sentences, the decision first: for where there is no room for tables. */
export function sentencesOf(decided: Decided): readonly string[] {
  const { access, scopes } = decided;
  return [
    verdictOf(decided).sentence,
    assignmentInWords(decided),
    accessInWords(access),
    ...access.reasons.map((step) =>
      `${[step.policy, step.rule]
        .filter((name) => name !== undefined)
        .map(quoted)
        .join(', ')}: ${stepInWords(step)}`.replace(/^: /, ''),
    ),
    ...scopes.requested.map((scope) => `${quoted(scope)}: ${scopeInWords(scope, decided)}`),
    consentInWords(decided),
  ];
}
