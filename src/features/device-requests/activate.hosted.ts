/** `/activate`: where users enter a device's code (RFC 8628 section 3.3), and the pages that follow. */
import type Koa from 'koa';
import { visitor } from '../../pages/hosted/deps.ts';
import { seeOther } from '../../platform/http/forms.ts';
import type { Pages } from '../../platform/http/views.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { momentOf, timesIn } from '../../platform/i18n/times.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import { detailInLanguage } from '../authorization-details/shown-details.hosted.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { countUserCode, forgetUserCode, TooManyFailures } from '../sign-in/failure-limits.service.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';

/** Maximum characters of an entered code that are used and shown again. */
const LONGEST = 20;

/** GET /activate, with or without a code. @throws {TooManyFailures} */
export async function activatePage(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const { user_code: given } = ctx.query;
  const typed = typeof given === 'string' ? given.trim().slice(0, LONGEST) : '';
  if (typed === '') return drawActivate(deps.pages, ctx, {});
  const { ipAddress } = visitor(ctx, deps.config);
  const seconds = await countUserCode(deps.services, ipAddress);
  if (seconds !== undefined) throw new TooManyFailures(seconds);
  const confirmation = await deps.findDeviceRequest(typed);
  if (confirmation !== undefined) {
    await forgetUserCode(deps.services, ipAddress);
    return seeOther(ctx, confirmation);
  }
  await drawActivate(deps.pages, ctx, { problem: 'unknown', typed });
}

interface ActivateFacts {
  readonly problem?: 'unknown' | 'expired' | 'used' | 'denied';
  readonly typed?: string;
  /** `ui_locales` of the request. */
  readonly uiLocales?: string | undefined;
}

/** The form for the code, with the result of the previous code. */
export async function drawActivate(pages: Pages, ctx: Koa.Context, { problem, typed = '', uiLocales }: ActivateFacts): Promise<void> {
  const language = pageLanguage(ctx, uiLocales);
  const title = language.text('activate.title');
  const isWrong = problem !== undefined && problem !== 'denied';
  const locals = {
    ...language,
    title: isWrong ? language.text('error.title-prefix', { title }) : title,
    heading: title,
    notice: problem === 'denied' ? language.text('activate.denied') : undefined,
    problem: isWrong ? language.text(`activate.${problem}`) : undefined,
    typed,
  };
  await pages.render(ctx, 'activate', locals, { status: isWrong ? 400 : 200 });
}

export interface ConfirmDeviceFacts {
  readonly application: string;
  readonly userCode: string;
  readonly device: { readonly ipAddress: string; readonly userAgent: string };
  /** Country, and whether the device is in the network of this browser: an attacker who sent the code is elsewhere (RFC 8628 section 5.4). */
  readonly place: { readonly country: string | undefined; readonly isSameNetwork: boolean };
  /** Requested authorization details (RFC 9396). Trusted applications have no consent page that would show them. */
  readonly details: readonly { readonly detail: AuthorizationDetail; readonly type: DetailType | undefined }[];
  /** Epoch seconds. */
  readonly requestedAt: number;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly uiLocales: string | undefined;
}

/** Asks the user to compare the code with the one on their device, even if the code was not typed (RFC 8628 sections 3.3.1 and 5.4). */
export async function confirmDevicePage(pages: Pages, ctx: Koa.Context, facts: ConfirmDeviceFacts): Promise<void> {
  const language = pageLanguage(ctx, facts.uiLocales);
  const { text, lang } = language;
  const title = text('device.title', { application: facts.application });
  await pages.render(ctx, 'confirm-device', {
    ...language,
    title,
    heading: title,
    userCode: facts.userCode,
    device: browserName(facts.device.userAgent) ?? facts.device.userAgent.slice(0, 60),
    address: facts.device.ipAddress,
    country: facts.place.country === undefined ? undefined : new Intl.DisplayNames([lang], { type: 'region' }).of(facts.place.country),
    network: text(facts.place.isSameNetwork ? 'device.same-network' : 'device.other-network'),
    application: facts.application,
    details: facts.details.map(({ detail, type }) => detailInLanguage(language, detail, type)),
    requested: momentOf(new Date(facts.requestedAt * 1000)),
    time: timesIn(lang).element,
    scripts: ['local-time.js'],
    action: facts.action,
    fields: facts.fields,
  });
}

/** The last page: the user continues on the device. */
export async function deviceConnectedPage(
  pages: Pages,
  ctx: Koa.Context,
  { application, uiLocales }: Pick<ConfirmDeviceFacts, 'application' | 'uiLocales'>,
): Promise<void> {
  const language = pageLanguage(ctx, uiLocales);
  const title = language.text('device.done-title');
  const locals = { ...language, title, heading: title, explanation: language.text('device.done', { application }), links: [] };
  await pages.render(ctx, 'message', locals);
}
