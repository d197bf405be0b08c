/** Authorization details on pages, in the page's language. */
import type { Language } from '../../platform/i18n/messages.ts';
import type { DetailType } from './detail-types.resource.ts';
import type { AuthorizationDetail } from './details.policy.ts';
import { type ShownDetail, shownDetail } from './shown-details.policy.ts';

/** @param type undefined: it no longer exists */
export const detailInLanguage = ({ lang, text }: Language, detail: AuthorizationDetail, type: DetailType | undefined): ShownDetail =>
  shownDetail(detail, type, { lang, yes: text('details.yes'), no: text('details.no') });
