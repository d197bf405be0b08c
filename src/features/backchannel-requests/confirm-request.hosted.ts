/** Confirmation page of a backchannel request (CIBA section 7.1): application, time, scopes and message. */
import type Koa from 'koa';
import type { Pages } from '../../platform/http/views.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { momentOf, timesIn } from '../../platform/i18n/times.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import { detailInLanguage } from '../authorization-details/shown-details.hosted.ts';
import { REQUESTS_PAGE } from './request-mails.service.ts';

export interface ConfirmRequestFacts {
  readonly application: string;
  /** The application's own words. */
  readonly message: string | undefined;
  /** Epoch seconds. */
  readonly requestedAt: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
  /** Requested authorization details (RFC 9396). */
  readonly details: readonly { readonly detail: AuthorizationDetail; readonly type: DetailType | undefined }[];
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly uiLocales: string | undefined;
}

export async function confirmRequestPage(pages: Pages, ctx: Koa.Context, facts: ConfirmRequestFacts): Promise<void> {
  const language = pageLanguage(ctx, facts.uiLocales);
  const { text, lang } = language;
  const title = text('request.title', { application: facts.application });
  await pages.render(ctx, 'confirm-request', {
    ...language,
    title,
    heading: title,
    message: facts.message,
    application: facts.application,
    details: facts.details.map(({ detail, type }) => detailInLanguage(language, detail, type)),
    requested: momentOf(new Date(facts.requestedAt * 1000)),
    expires: momentOf(new Date(facts.expiresAt * 1000)),
    time: timesIn(lang).element,
    scripts: ['local-time.js'],
    action: facts.action,
    fields: facts.fields,
    all: REQUESTS_PAGE,
  });
}
