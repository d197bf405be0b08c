/** Explains the result of an event in the system log, and for token requests, what the result would be today. */

import { type Verdict, verdictOf } from '../../pages/console/decision-steps.ts';
import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { ApiError, notFound } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import type { RecordedRequest } from '../policies/decisions.policy.ts';
import { isExchange } from '../policies/simulation.policy.ts';
import { simulateRequest } from '../policies/simulation.service.ts';
import type { SimulatedPrompt } from '../policies/simulation-facts.policy.ts';
import { describeDecision } from './decision-text.console.ts';
import { LOG_CRUMBS, logTabs } from './entry.console.ts';
import { partyPiece, targetKindOf } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { readLogEvent } from './logs.service.ts';
import type { StepText } from './sign-in-text.console.ts';

const PROMPTS: readonly SimulatedPrompt[] = ['none', 'login', 'consent'];

/** @returns undefined if the application, the server or the user no longer exists */
async function today(
  { services, request: caller }: ConsoleRequest,
  { actor }: StoredEvent,
  request: RecordedRequest,
): Promise<Verdict | undefined> {
  const { clientId, serverId, grantType, scopes, prompt = '', actor: acting, resources = [], detailTypes = [] } = request;
  const words = prompt.split(' ');
  const prompts = new Set(
    grantType === 'password' || grantType === 'client_credentials' || isExchange(grantType)
      ? []
      : PROMPTS.filter((one) => words.includes(one)),
  );
  const user = actor.type === 'User' ? actor.id : undefined;
  try {
    const question = { clientId, user, grantType, actor: acting, scopes, resources, details: [], detailTypes, prompts, runHook: false };
    const simulated = await simulateRequest(services, serverId, question, caller);
    return verdictOf({ ...simulated, grantType, prompts });
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  }
}

const steps = (explained: readonly StepText[]): Part => ({
  kind: 'table',
  title: 'Evaluated',
  lead: 'In this order, with the names at that time.',
  name: 'Evaluated',
  columns: ['What', 'Result'],
  rows: explained.map(({ what, outcome }) => ({ cells: [what, outcome] })),
  empty: '',
});

const NO_RESULT = 'There is no result for today: the user, the application or the authorization server no longer exists.';
/** The simulator assumes an authenticated user. */
const NO_FACTOR = 'This preview does not include second factors.';

export const explainPage: ConsolePage = {
  path: '/reports/log/:uuid/explain',
  access: 'service',
  async show(visit) {
    const { event } = await readLogEvent(visit.services, visit.params.uuid ?? '');
    const explained = describeDecision(event);
    if (explained === undefined) throw notFound(event.uuid, 'LogEvent');
    const parties = [event.actor, ...event.target].filter(
      ({ id, type }, at, all) => id !== 'unknown' && at === all.findIndex((one) => one.id === id && one.type === type),
    );
    // The simulator does not support ID-JAGs.
    const request = explained.request?.idJag ? undefined : explained.request;
    const now = request && (await today(visit, event, request));
    const isFactor = (event.debugContext.decision as { kind?: string } | undefined)?.kind === 'second-factor-needed';
    return detailPage({
      title: phrase('Why: {event}', { event: phrase(event.displayMessage) }),
      lead: phrase(event.outcome.result === 'SUCCESS' ? 'It succeeded, {when}.' : 'It failed, {when}.', { when: event.published }),
      crumbs: LOG_CRUMBS,
      tabs: logTabs(event),
      parts: [
        { kind: 'words', title: 'Decision', tone: explained.tone, paragraphs: explained.sentences },
        ...(explained.steps.length === 0 ? [] : [steps(explained.steps)]),
        ...(explained.advice.length === 0 ? [] : [{ kind: 'words', title: 'What can be done', paragraphs: explained.advice } as const]),
        ...(request === undefined ? [] : [todayPart(request, event, now, isFactor)]),
        ...(parties.length === 0
          ? []
          : [
              {
                kind: 'facts',
                title: 'Actor and targets',
                facts: parties.map((party) => ({ label: capital(targetKindOf(party)), value: partyPiece(party, parties) })),
              } as const,
            ]),
      ],
    });
  },
};

/** Address of the simulator with the same request. */
function simulatorFor(
  { clientId, serverId, grantType, scopes, prompt = '', actor: acting, resources = [], detailTypes = [] }: RecordedRequest,
  { actor }: StoredEvent,
): string {
  const user = actor.type === 'User' ? { user: actor.id } : {};
  const question = new URLSearchParams({
    application: clientId,
    ...user,
    grant: grantType,
    scopes: scopes.join(' '),
    prompt,
    ...(acting !== undefined && { actor: acting }),
    ...(resources.length > 0 && { resources: resources.join(' ') }),
    ...(detailTypes.length > 0 && { details: detailTypes.join(' ') }),
  });
  return `/admin/api/servers/${encodeURIComponent(serverId)}/simulator?${question}`;
}

function todayPart(request: RecordedRequest, event: StoredEvent, now: Verdict | undefined, isFactor: boolean): Part {
  const title = 'Result today';
  if (now === undefined) return { kind: 'words', title, paragraphs: [NO_RESULT] };
  const paragraphs = isFactor ? [now.sentence, NO_FACTOR] : [now.sentence];
  const actions = [{ label: 'Open in the simulator', href: simulatorFor(request, event) }];
  return { kind: 'words', title, tone: now.tone, paragraphs, actions };
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
