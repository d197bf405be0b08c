/** Error page for sign-ins with an external provider: describes the problem in our own words, with links back to the start and to the application. */
import type Koa from 'koa';
import { APPLICATION_PARAMETER, parameterOf, SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import { type DrawInFrame, logoOf } from '../../pages/hosted/page-models.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { UpstreamProblem } from './upstream-failure.service.ts';
import { transactionPath, type UpstreamPlace } from './upstream-transaction.hosted.ts';

/** Shows the sign-in page even if the application has named a provider, or a domain requires one. */
const CHOOSE_PARAMETER = 'choose';

export const wantsToChoose = ({ query }: Koa.Context): boolean => CHOOSE_PARAMETER in query;

/** @returns the URL at which the user can still choose */
export const stillChoosing = (ctx: Koa.Context, address: string): string =>
  wantsToChoose(ctx) ? `${address}${address.includes('?') ? '&' : '?'}${CHOOSE_PARAMETER}=` : address;

/** over: the response was already used, has expired, or belongs to another browser. other-session: another user is signed in. */
type Problem = UpstreamProblem | 'over' | 'other-session';

const STATUS: Readonly<Record<Problem, number>> = {
  denied: 403,
  refused: 502,
  unreachable: 504,
  untrusted: 502,
  stale: 403,
  'no-email': 403,
  'no-user-name': 403,
  'not-admitted': 403,
  'not-offered': 404,
  'linked-elsewhere': 409,
  'linked-already': 409,
  'last-way': 409,
  'other-session': 403,
  over: 410,
};

/** All problems, for the test of the documentation. */
export const UPSTREAM_PROBLEMS = Object.keys(STATUS);

const WORDS = {
  'sign-in': { title: 'upstream.title', back: 'upstream.another-way' },
  account: { title: 'connected.problem', back: 'connected.back' },
} as const;

/** Problems with a separate text on the account page, which does not suggest another way to sign in. */
const isAccountProblem = (place: UpstreamPlace, problem: Problem): problem is 'unreachable' | 'stale' | 'not-offered' | 'not-admitted' =>
  place === 'account' && ['unreachable', 'stale', 'not-offered', 'not-admitted'].includes(problem);

/** @param name of the provider; undefined for problems without one @param framed layout for a signed-in user */
export async function explainProblem(
  deps: HostedDeps,
  ctx: Koa.Context,
  place: UpstreamPlace,
  name: string | undefined,
  problem: Problem,
  framed?: DrawInFrame,
): Promise<void> {
  const details = typeof place === 'string' ? undefined : place;
  const application = details?.application;
  const language = pageLanguage(ctx, details?.uiLocales);
  const { text } = language;
  const provider = name ?? '';
  const words = WORDS[place === 'account' ? 'account' : 'sign-in'];
  const heading = text(words.title);
  const { logo, images } = logoOf(application);
  const way = new URLSearchParams({ [CHOOSE_PARAMETER]: '' });
  const carried = parameterOf(ctx, APPLICATION_PARAMETER);
  if (carried !== undefined) way.set(APPLICATION_PARAMETER, carried);
  const locals = {
    ...language,
    // The URL contains a used response, so it cannot be opened in another language.
    languages: [],
    title: text('error.title-prefix', { title: heading }),
    heading,
    logo,
    explanation: text(isAccountProblem(place, problem) ? `connected.${problem}` : `upstream.${problem}`, { provider }),
    code: problem,
    again: place === 'account' ? SECURITY_PAGE : `${transactionPath(place)}?${way}`,
    back: text(words.back),
    application: application?.label,
    cancel:
      details === undefined
        ? undefined
        : `${transactionPath(details)}/cancel${carried === undefined ? '' : `?${new URLSearchParams({ application: carried })}`}`,
  };
  if (framed !== undefined) return framed('upstream-problem', { heading, status: STATUS[problem] }, locals);
  const formAction = details?.redirectOrigins ?? [];
  await deps.pages.render(ctx, 'upstream-problem', locals, { status: STATUS[problem], images, formAction });
}
