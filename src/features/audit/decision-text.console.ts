/** Explains the stored decision of an audit event in plain sentences with links. A pure function of the event. */

import { consentRowInWords, stepInWords } from '../../pages/console/decision-steps.ts';
import { counted, type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import type { AccessRefused, ConsentPrompt, Decision, KeptScope, RequestRefused } from '../policies/decisions.policy.ts';
import { policyLink } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { hookText } from './hook-text.console.ts';
import { ruleText } from './sign-in-rule-text.console.ts';
import {
  type DecisionText,
  factorText,
  lockText,
  NOTHING,
  passwordText,
  REQUIREMENTS,
  type StepText,
  sessionText,
} from './sign-in-text.console.ts';

/** @returns undefined if there is no stored decision, or it was erased with a deleted user */
export function describeDecision(event: Pick<StoredEvent, 'eventType' | 'debugContext'>): DecisionText | undefined {
  const { decision, after } = event.debugContext as { decision?: Decision; after?: unknown };
  if (event.eventType === 'user.account.lock') return lockText(after);
  switch (decision?.kind) {
    case 'password':
      return passwordText(decision);
    case 'second-factor':
      return factorText(decision);
    case 'address':
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: [
          phrase('{failures} sign-ins from this network address failed within a quarter of an hour.', { failures: decision.failures }),
          phrase('After that, every request from there was refused for {duration}, whatever the user name and password.', {
            duration: inMinutes(decision.seconds),
          }),
        ],
        advice: ['It ended automatically. If a whole office shares the address, its users can sign in again.'],
      };
    case 'session':
      return sessionText(decision);
    case 'sign-in-rule':
      return ruleText(decision);
    case 'provider-required':
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: [
          phrase('The domain of the user requires the identity provider “{provider}”. The user was sent there.', {
            provider: decision.provider,
          }),
        ],
        advice: ['The page of the organization shows the required provider under Sign-in.'],
      };
    case 'redirect-uri':
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: [phrase('The request named the redirect URI {uri}. The application does not have it.', { uri: decision.redirectUri })],
        advice: ['If the address is right, add it on the page of the application, under Connect. If not, correct it in the application.'],
      };
    case 'consent':
      return consent(decision);
    case 'inline-hook':
      return hookText(decision);
    case 'access-policy':
    case 'not-assigned':
    case 'not-a-member':
    case 'second-factor-needed':
    case 'consent-required':
      return { ...refused(decision), request: decision.request };
    default:
      return undefined;
  }
}

const inMinutes = (seconds: number): Phrase => counted(Math.max(1, Math.round(seconds / 60)), 'one minute', '{count} minutes');

const scopeStep = ({ scope, reason }: KeptScope): StepText => ({
  what: [{ text: scope, code: true }],
  outcome: consentRowInWords({ reason }),
});

function consent({ scopes }: ConsentPrompt): DecisionText {
  const asked = scopes.filter(({ ask }) => ask).length;
  return {
    tone: 'plain',
    sentences: [
      counted(
        asked,
        'The user was asked for one scope of the request. Scope by scope:',
        'The user was asked for {count} scopes of the request. Scope by scope:',
      ),
    ],
    steps: scopes.map(scopeStep),
    advice: ['The service remembers what the user allows. It asks again only after a revocation, or if the request has prompt=consent.'],
  };
}

function access({ request, steps, left }: AccessRefused): Omit<DecisionText, 'request'> {
  const described = steps.map(({ policyId, policy, rule, reason }): StepText => {
    const outcome = stepInWords({ reason });
    if (policy === undefined || policyId === undefined) return { what: [{ text: phrase('Result') }], outcome };
    const text =
      rule === undefined ? phrase('Access policy “{policy}”', { policy }) : phrase('Rule “{rule}” of “{policy}”', { rule, policy });
    return { what: [{ text, href: policyLink(request.serverId, policyId) }], outcome };
  });
  const none = steps.at(-1)?.reason === 'no policy is for this client';
  return {
    tone: 'bad',
    sentences: [
      none
        ? 'No access policy of the authorization server applies to this application, so access is denied.'
        : 'The access policy of this application has no rule that matches this request, so access is denied.',
      ...(left === undefined ? [] : [phrase('{left} more policies and rules were evaluated.', { left })]),
    ],
    steps: described,
    advice: [
      none
        ? 'Add the application to a policy of the authorization server, or add a policy for it.'
        : 'Add a rule to the policy, or widen one, for this user, grant type and these scopes. The simulator shows the result of a request.',
    ],
  };
}

function refused(decision: RequestRefused): Omit<DecisionText, 'request'> {
  switch (decision.kind) {
    case 'access-policy':
      return access(decision);
    case 'not-assigned':
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: ['Only assigned users and groups may sign in to the application. This user is not assigned.'],
        advice: ['Assign the user, or one of their groups, on the page of the application, or open the application to everyone.'],
      };
    case 'not-a-member':
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: [
          'The request was for an organization that the user does not belong to, or the application requires an organization and the user has none.',
        ],
        advice: ['Add the user to the organization, or let them sign in with another account.'],
      };
    case 'second-factor-needed': {
      const why = phrase(decision.demandedBy === undefined ? 'the user has one, or one is required' : REQUIREMENTS[decision.demandedBy]);
      return {
        ...NOTHING,
        tone: 'bad',
        sentences: [
          phrase('A second factor was required: {why}.', { why }),
          'The user had not used one, and this request could not ask for one: it had prompt=none or no browser.',
        ],
        advice: ['The application should send the user to the authorize endpoint without prompt=none. The user is asked there.'],
      };
    }
    case 'consent-required':
      return {
        tone: 'bad',
        sentences: ['The user must consent, but the request forbids a dialog (prompt=none).'],
        steps: decision.scopes.map(scopeStep),
        advice: ['The application should repeat the request without prompt=none. The user then sees the dialog.'],
      };
  }
}
