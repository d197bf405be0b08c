/**
 * Consent step of an authorization request (OpenID Connect Core 1.0 section 3.1.2.4): shows application, account and scopes, and reports the allowed
 * ones: optional scopes one by one, the others as a whole. Whether consent is needed was decided before.
 */
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { accountLabel, logoOf, webAddress } from '../../pages/hosted/page-models.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { detailInLanguage } from '../authorization-details/shown-details.hosted.ts';
import { inLanguage } from '../scopes/scope-text.hosted.ts';
import { type InteractionDetails, InteractionEnded, type SignInDeps } from '../sign-in/interactions.hosted.ts';
import type { InteractionResult } from '../sign-in/interactions.resource.ts';

type Consent = NonNullable<InteractionDetails['consent']>;

/** @throws {InteractionEnded} the session has ended, so the interaction no longer needs consent */
function consentOf({ consent }: InteractionDetails): Consent {
  if (consent === undefined) throw new InteractionEnded('session-changed');
  return consent;
}

/** Renders the consent page. */
export async function askForConsent(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const language = pageLanguage(ctx, details.uiLocales);
  const { scopes: asked, details: askedDetails, resources, wholeProfile, staysConnected } = consentOf(details);
  const scopes = asked.map((scope) => inLanguage(language, scope));
  const { application, account } = details;
  const { logo, images } = logoOf(application);
  const title = language.text('consent.title', { application: application.label });
  const locals = {
    ...language,
    title,
    heading: title,
    logo,
    application: application.label,
    account: account && accountLabel(account),
    action: withCarriedParameters(ctx, `/interaction/${details.serverId}/${details.uid}/consent`),
    required: scopes.filter(({ optional }) => !optional),
    optional: scopes.filter(({ optional }) => optional),
    details: askedDetails.map(({ detail, type }) => detailInLanguage(language, detail, type)),
    wholeProfile,
    staysConnected,
    unchecked:
      details.unchecked &&
      language.text(UNCHECKED[details.unchecked.from], { application: application.label, host: details.unchecked.host }),
    // For applications created by an administrator, the API address means nothing to users.
    actsAt: details.unchecked === undefined || resources.length === 0 ? undefined : placesOf(language.lang, resources),
    destination: details.redirectOrigins[0] ?? '',
    policy: webAddress(application.policyUri),
    terms: webAddress(application.tosUri),
    scripts: ['reload-when-stale.js'],
  };
  await deps.pages.render(ctx, 'consent', locals, { formAction: details.redirectOrigins, images });
}

/** Warnings for applications that no administrator created. */
const UNCHECKED = {
  host: 'consent.unchecked',
  'this-device': 'consent.unchecked.this-device',
  'other-device': 'consent.unchecked.other-device',
} as const;

/** URLs without their scheme, as a list in the page's language. */
const placesOf = (lang: string, urls: readonly string[]): string =>
  new Intl.ListFormat(lang).format(urls.map((url) => url.replace(/^https?:\/\//, '')));

/**
 * Decision from the submitted form. Allowed are all required scopes and the optional ones that were ticked. `switch` signs in another user; anything
 * else denies.
 */
function consentDecision({ scopes }: Consent, form: URLSearchParams): InteractionResult {
  if (form.get('decision') === 'switch') return { switchAccount: true };
  if (form.get('decision') !== 'allow') return { error: 'access_denied', error_description: 'The user did not allow the access' };
  const ticked = new Set(form.getAll('scope'));
  return { consent: { scopes: scopes.filter(({ name, optional }) => !optional || ticked.has(name)).map(({ name }) => name) } };
}

/** Reports the decision. */
export async function receiveConsent(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const result = consentDecision(consentOf(details), await readForm(ctx));
  seeOther(ctx, withCarriedParameters(ctx, await deps.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}
