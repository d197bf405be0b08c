/** Explains token decisions in plain sentences, for the simulator and the system log. Pure: policies make the decisions. */

import type { HeldRole } from '../../features/application-roles/application-roles.resource.ts';
import { type ApplicationSettings, consentMethodOf } from '../../features/applications/application-settings.policy.ts';
import type { Application } from '../../features/applications/applications.resource.ts';
import type { ClaimReason, ClaimStep } from '../../features/claims/custom-claims.policy.ts';
import type { ConsentReason, ScopeDecision } from '../../features/consents/consent.policy.ts';
import type { AccessDecision, AccessGrantType, AccessReason, AccessStep } from '../../features/policies/access-policy.policy.ts';
import type { Simulation } from '../../features/policies/simulation.policy.ts';
import type { SimulatedPrompt } from '../../features/policies/simulation-facts.policy.ts';
import { counted, type Phrase, phrase, quoted } from '../../platform/i18n/phrase.ts';
import type { Tone } from './detail-page.ts';

/** A decision, and the request data needed to describe it. */
export interface Decided extends Simulation {
  readonly grantType: AccessGrantType;
  readonly prompts: ReadonlySet<SimulatedPrompt>;
  readonly server: { readonly name: string };
  readonly application: Pick<Application, 'label' | 'origin'> & {
    readonly settings: Pick<ApplicationSettings, 'assignment' | 'consent_method'>;
  };
  /** undefined: the application acts for itself. */
  readonly user: { readonly login: string } | undefined;
  /** undefined: there is no user. */
  readonly isAssigned: boolean | undefined;
}

export interface Verdict {
  readonly tone: Tone;
  /** One-sentence summary. */
  readonly sentence: Phrase;
}

/** Explanations of refusals for those who must fix them, by reason. */
const REFUSALS: Readonly<Record<string, (decided: Decided) => Phrase>> = {
  'the authorization server is not active': ({ server }) =>
    phrase('the authorization server “{server}” is deactivated', { server: server.name }),
  'the application is not active': ({ application }) =>
    phrase('the application “{application}” is deactivated', { application: application.label }),
  'a rule of the sign-in policy refuses the sign-in': () => phrase('a rule of the sign-in policy refuses the sign-in'),
  'the sign-in policy does not allow passwords': () => phrase('the sign-in policy does not allow passwords'),
  'the user must sign in with an identity provider': () => phrase('the user must sign in with an identity provider'),
  'the user needs a second factor, which this grant does not support': () =>
    phrase('the user needs a second factor, which this grant does not support'),
  'the application may not use this grant type. Add it to its grant_types': ({ application }) =>
    phrase('the application “{application}” may not use this grant: its settings do not name it, or no response type that goes with it', {
      application: application.label,
    }),
  'no scope was requested, and the authorization server has no default scope': () =>
    phrase('no scope was requested, and the authorization server has no default scopes'),
  'the application is not assigned to the user': ({ application, user }) =>
    phrase('the application “{application}” is not assigned to “{login}”', {
      application: application.label,
      login: user?.login ?? '',
    }),
  'the user is not a member of the organization': () => phrase('the user is not a member of the organization'),
  'the user must choose an organization, but the request has prompt=none': () =>
    phrase('the user must choose an organization, but the request has prompt=none'),
  'no access policy of the authorization server allows this request': ({ access }) =>
    access.policy === undefined
      ? phrase('no active access policy applies to this application')
      : phrase('no active rule of the access policy “{name}” matches', { name: access.policy.name }),
  'none of the requested scopes can be granted': () => phrase('none of the requested scopes can be granted'),
  'the user must consent, but the request has prompt=none': ({ user }) =>
    phrase('“{login}” must consent, but the request has prompt=none', { login: user?.login ?? '' }),
};

function refusalInWords(decided: Decided): Phrase {
  const { error = '', reason = '' } = decided.refusal ?? {};
  const { refused } = decided.scopes;
  if (error === 'invalid_scope' && refused.length > 0)
    return counted(
      refused.length,
      'the scope {scopes} does not exist here, or cannot be granted in this way',
      'the scopes {scopes} do not exist here, or cannot be granted in this way',
      { scopes: refused.map(quoted) },
    );
  return REFUSALS[reason]?.(decided) ?? phrase(reason);
}

/** Tokens that the application gets, e.g. “an access token and an ID token”. */
function tokensInWords({ tokens }: Simulation): readonly Phrase[] {
  return [
    ...(tokens?.accessToken === undefined ? [] : [phrase('an access token')]),
    ...(tokens?.idToken === undefined ? [] : [phrase('an ID token')]),
    ...(tokens?.refreshToken === true ? [phrase('a refresh token')] : []),
  ];
}

/** The decision in one sentence. */
export function verdictOf(decided: Decided): Verdict {
  const { outcome, refusal, consent = [] } = decided;
  const values = { application: decided.application.label, user: decided.user?.login ?? '', tokens: tokensInWords(decided) };
  const isForUser = decided.user !== undefined;
  if (outcome === 'REFUSED') {
    const why = { ...values, why: refusalInWords(decided), error: refusal?.error ?? '' };
    const sentence = isForUser
      ? phrase('“{application}” gets no token for “{user}”: {why} ({error}).', why)
      : phrase('“{application}” gets no token in its own name: {why} ({error}).', why);
    return { tone: 'bad', sentence };
  }
  if (outcome === 'TOKENS') {
    const sentence = isForUser
      ? phrase('“{application}” gets {tokens} for “{user}”.', values)
      : phrase('“{application}” gets {tokens} in its own name.', values);
    return { tone: 'good', sentence };
  }
  const scopes = consent.filter(({ ask }) => ask).map(({ scope }) => quoted(scope));
  return {
    tone: 'warning',
    sentence: phrase('“{user}” is asked for consent to {scopes}; having allowed it, “{application}” gets {tokens} for “{user}”.', {
      ...values,
      scopes,
    }),
  };
}

/** Is the application assigned to this user? undefined: there is no user. */
export function assignmentInWords({ application: { label, settings }, user, isAssigned }: Decided): Phrase {
  if (user === undefined) return phrase('There is no user: the application asks in its own name.');
  if (settings.assignment === 'EVERYONE')
    return phrase('“{name}” is for every user, so nobody needs to be assigned to it.', { name: label });
  return isAssigned === true
    ? phrase('“{name}” is assigned to “{login}”, directly or by a group.', { name: label, login: user.login })
    : phrase('“{name}” is not assigned to “{login}”, neither directly nor by a group.', { name: label, login: user.login });
}

/** The user's role at the application, and its source. */
export const heldRoleInWords = ({ name, direct, groups }: HeldRole) => ({
  text: direct
    ? groups.length === 0
      ? phrase('{role}: assigned directly', { role: name })
      : phrase('{role}: assigned directly, and by {groups}', { role: name, groups })
    : phrase('{role}: by {groups}', { role: name, groups }),
});

const ACCESS: Readonly<Record<AccessReason, string>> = {
  'the policy is for other clients': 'Skipped: it is for other applications.',
  'the policy is for this client': 'It applies to this application, so its rules decide.',
  'the rule is for another grant type': 'Skipped: it is for other grants.',
  'the rule is for other people': 'Skipped: it is for other users.',
  'the rule is for other scopes': 'Skipped: the request is also for scopes that it does not name.',
  'the rule is for other authorization details': 'Skipped: the request has authorization details of types that it does not name.',
  'the rule is for other actors': 'Skipped: it is for other actors, or only for token exchanges.',
  'the rule fits': 'It matches and grants access.',
  'no rule of the policy fits': 'None of its active rules matches, so access is denied. Later policies are not evaluated.',
  'no policy is for this client': 'No active policy applies to this application, so access is denied.',
};

/** Result of evaluating a policy or rule. */
export const stepInWords = ({ reason }: AccessStep): Phrase => phrase(ACCESS[reason]);

/** Sentence naming the policy and rule that decided. */
export function accessInWords({ allowed, policy, rule }: Pick<AccessDecision, 'allowed'> & NamedAccess): Phrase {
  if (allowed && policy && rule)
    return phrase('The rule “{rule}” of the access policy “{policy}” allows it.', { rule: rule.name, policy: policy.name });
  return policy === undefined
    ? phrase('No active access policy applies to this application, so access is denied.')
    : phrase('The access policy “{policy}” decides. None of its active rules matches, so access is denied.', { policy: policy.name });
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
  'no administrator made the application': 'Asked: no administrator made the application.',
};

/** The row of the table of consent that decided about a scope. */
export const consentRowInWords = ({ reason }: Pick<ScopeDecision, 'reason'>): Phrase => phrase(CONSENT[reason]);

/** Is the user asked for consent, and why? */
export function consentInWords({ consent, outcome, grantType, application, prompts }: Decided): Phrase {
  if (consent === undefined)
    return grantType === 'password'
      ? phrase('Nobody is asked: the password grant has no page to ask on.')
      : phrase('Nobody is asked: there is no user.');
  const asked = consent.filter(({ ask }) => ask);
  if (asked.length > 0) {
    const scopes = asked.map(({ scope }) => quoted(scope));
    const page = phrase(outcome === 'REFUSED' ? 'The consent page would ask for {scopes}' : 'The consent page asks for {scopes}', {
      scopes,
    });
    if (consentMethodOf(application) === 'ALWAYS')
      return phrase('{page}: no administrator made the application, so users are always asked.', { page });
    return prompts.has('consent')
      ? phrase('{page}: the request says prompt=consent.', { page })
      : phrase('{page}: the application needs consent, and the user has not allowed this yet.', { page });
  }
  if (consent.every(({ reason }) => reason === 'scope is granted without a dialog'))
    return phrase('No consent page: none of the scopes needs consent.');
  return application.settings.consent_method === 'TRUSTED'
    ? phrase('No consent page: the application is trusted.')
    : phrase('No consent page: the user allowed all of it before.');
}

/** Result for a requested or default scope. */
export function scopeInWords(scope: string, { scopes, outcome, consent, grantType }: Decided): Phrase {
  if (scopes.refused.includes(scope))
    return grantType === 'client_credentials' || grantType === 'password'
      ? phrase('Refused: it does not exist here, or needs a user who can be asked.')
      : phrase('Refused: it does not exist here.');
  if (!scopes.granted.includes(scope)) return phrase('Left out: the application may not refresh tokens in this way.');
  if (outcome === 'REFUSED') return phrase('Not granted: the request is refused.');
  const isAsked = consent?.some((decision) => decision.scope === scope && decision.ask) === true;
  return phrase(isAsked ? 'Granted, if the user allows it.' : 'Granted.');
}

const CLAIMS: Readonly<Record<ClaimReason, string>> = {
  included: 'Included.',
  'the claim is inactive': 'Left out: it is not active.',
  'the claim is for other scopes': 'Left out: none of its scopes is granted.',
  'the application chose other claims': 'Left out of the ID token: the application chose its claims. Userinfo returns it.',
  'userinfo returns the claim': 'Left out of the ID token: userinfo returns it.',
  'there is no user': 'Left out: there is no user.',
  'the user has no value for it': 'Left out: this user has no value.',
};

/** Result for a custom claim. */
export const claimInWords = ({ reason }: Pick<ClaimStep, 'reason'>): Phrase => phrase(CLAIMS[reason]);
