/**
 * Decides whether to ask for consent and for which scopes: the table of docs/specification/identity-service.md as a pure function that also returns
 * the deciding row. OpenID Connect Core 1.0 section 3.1.2.4; settings come from the application and each scope.
 */
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';

/** ALWAYS: applications that no administrator created require consent each time, for all scopes. */
export type ConsentMethod = 'TRUSTED' | 'REQUIRED' | 'ALWAYS';

export interface RequestedScope {
  readonly name: string;
  readonly consent: 'IMPLICIT' | 'REQUIRED' | 'FLEXIBLE';
}

export interface ConsentFacts {
  readonly method: ConsentMethod;
  /** The request's prompt contains `consent`. */
  readonly prompted: boolean;
  readonly scopes: readonly RequestedScope[];
  /** Scopes that the user allowed this application before at this server. */
  readonly remembered: ReadonlySet<string>;
}

export type ConsentReason =
  | 'scope is granted without a dialog'
  | 'application is trusted'
  | 'given before'
  | 'the request prompts for consent'
  | 'no administrator made the application'
  | 'not given yet';

export interface ScopeDecision {
  /** For an authorization detail, the name of its type. */
  readonly scope: string;
  readonly ask: boolean;
  readonly reason: ConsentReason;
  readonly detail?: AuthorizationDetail;
}

function decideScope(scope: RequestedScope, facts: ConsentFacts): ScopeDecision {
  const decided = (ask: boolean, reason: ConsentReason): ScopeDecision => ({ scope: scope.name, ask, reason });
  if (facts.method === 'ALWAYS') return decided(true, 'no administrator made the application');
  if (scope.consent === 'IMPLICIT') return decided(false, 'scope is granted without a dialog');
  if (facts.prompted) return decided(true, 'the request prompts for consent');
  if (facts.method === 'TRUSTED') return decided(false, 'application is trusted');
  if (facts.remembered.has(scope.name)) return decided(false, 'given before');
  return decided(true, 'not given yet');
}

/** Decides for each requested scope whether the dialog asks for it, and why. The dialog appears if any scope is asked for. */
export function decideConsent(facts: ConsentFacts): readonly ScopeDecision[] {
  return facts.scopes.map((scope) => decideScope(scope, facts));
}

export interface RequestedDetail {
  readonly detail: AuthorizationDetail;
  /** Key under which the consent is stored. */
  readonly key: string;
  /** Is the same detail granted again without a dialog? */
  readonly rememberConsent: boolean;
}

/**
 * Decides for each authorization detail whether the dialog asks for it, by the rules of a scope that trusted applications get without consent.
 * @param remembered keys of details that the user allowed before
 */
export function decideDetailConsent(
  details: readonly RequestedDetail[],
  { method, prompted, remembered }: Omit<ConsentFacts, 'scopes'>,
): readonly ScopeDecision[] {
  return details.map(({ detail, key, rememberConsent }) => {
    const isKept = rememberConsent && remembered.has(key);
    const decision = decideScope(
      { name: detail.type, consent: 'FLEXIBLE' },
      { method, prompted, scopes: [], remembered: new Set(isKept ? [detail.type] : []) },
    );
    return { ...decision, detail };
  });
}

/** Can earlier consents change the decision? If not, they need not be read. */
export function dependsOnRemembered(facts: Omit<ConsentFacts, 'remembered'>, details: readonly RequestedDetail[] = []): boolean {
  const isAskable = facts.scopes.some(({ consent }) => consent !== 'IMPLICIT') || details.some(({ rememberConsent }) => rememberConsent);
  return !facts.prompted && facts.method === 'REQUIRED' && isAskable;
}
