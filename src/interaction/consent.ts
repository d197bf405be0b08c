/**
 * The consent step of an authorization request (OpenID Connect Core 1.0 section 3.1.2.4): tells who asks, on whose account and
 * for what, and reports the scopes that the user allowed. Whether the dialog is needed was decided before.
 */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { accountLabel, type InteractionDetails, InteractionGone, type InteractionResult } from './interactions.ts';
import { logoOf, webAddress } from './links.ts';
import { languageFor } from './messages.ts';
import type { House } from './routes.ts';

type Consent = NonNullable<InteractionDetails['consent']>;

/** @throws {InteractionGone} when the interaction asks for no consent: its session was taken away meanwhile */
function consentOf({ consent }: InteractionDetails): Consent {
  if (consent === undefined) throw new InteractionGone('session-changed');
  return consent;
}

/** Answers with the dialog. */
export async function askForConsent(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const language = languageFor('en');
  const { scopes, wholeProfile } = consentOf(details);
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
    action: `/interaction/${details.serverId}/${details.uid}/consent`,
    required: scopes.filter(({ optional }) => !optional),
    optional: scopes.filter(({ optional }) => optional),
    wholeProfile,
    destination: details.redirectOrigin,
    policy: webAddress(application.policyUri),
    terms: webAddress(application.tosUri),
  };
  await house.pages.render(ctx, 'consent', locals, { formAction: [details.redirectOrigin], images });
}

/**
 * What the posted form says: allowed are all scopes that are not optional and the optional ones that were ticked. Anything but
 * `allow` denies.
 */
export function consentDecision({ scopes }: Consent, form: URLSearchParams): InteractionResult {
  if (form.get('decision') !== 'allow') return { error: 'access_denied', error_description: 'The user did not allow the access' };
  const ticked = new Set(form.getAll('scope'));
  return { consent: { scopes: scopes.filter(({ name, optional }) => !optional || ticked.has(name)).map(({ name }) => name) } };
}

/** Reports the decision. */
export async function receiveConsent(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const result = consentDecision(consentOf(details), await readForm(ctx));
  seeOther(ctx, await house.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result));
}
