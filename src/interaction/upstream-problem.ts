/**
 * What a user is told when a sign-in by an external provider did not work: what happened, in words of ours, never in the provider's; and two ways on, to
 * the sign-in page and to the application.
 */
import type Koa from 'koa';
import type { UpstreamProblem } from '../services/upstream-failure.ts';
import type { Place } from './continue-sign-in.ts';
import { logoOf } from './links.ts';
import { pageLanguage } from './page-language.ts';
import type { House } from './routes.ts';
import { placeOf } from './upstream-place.ts';
import { APPLICATION_PARAMETER, parameterOf } from './way.ts';

/** With it the sign-in page is shown also where the application has named a provider. */
export const CHOOSE_PARAMETER = 'choose';

/** over: the answer was used, took too long, or belongs to another browser. */
type Problem = UpstreamProblem | 'over';

const STATUS: Readonly<Record<Problem, number>> = {
  denied: 403,
  refused: 502,
  unreachable: 504,
  untrusted: 502,
  stale: 403,
  'no-email': 403,
  'not-admitted': 403,
  'not-offered': 404,
  over: 410,
};

/** @param name the provider's; undefined: it is not known which, or not offered */
export async function explainProblem(
  house: House,
  ctx: Koa.Context,
  place: Place,
  name: string | undefined,
  problem: Problem,
): Promise<void> {
  const application = place === 'standalone' ? undefined : place.application;
  const language = pageLanguage(ctx, place === 'standalone' ? undefined : place.uiLocales);
  const { text } = language;
  const provider = name ?? text('upstream.unnamed');
  const heading = text('upstream.title');
  const { logo, images } = logoOf(application);
  const way = new URLSearchParams({ [CHOOSE_PARAMETER]: '' });
  const carried = parameterOf(ctx, APPLICATION_PARAMETER);
  if (carried !== undefined) way.set(APPLICATION_PARAMETER, carried);
  const locals = {
    ...language,
    // The address holds an answer that is used up: in another language it would be another page.
    languages: [],
    title: text('error.title-prefix', { title: heading }),
    heading,
    logo,
    explanation: text(`upstream.${problem}`, { provider }),
    code: problem,
    again: `${placeOf(place)}?${way}`,
    application: application?.label,
    cancel:
      place === 'standalone'
        ? undefined
        : `${placeOf(place)}/cancel${carried === undefined ? '' : `?${new URLSearchParams({ application: carried })}`}`,
  };
  const formAction = place === 'standalone' ? [] : place.redirectOrigins;
  await house.pages.render(ctx, 'upstream-problem', locals, { status: STATUS[problem], images, formAction });
}
