/**
 * Tells a signed-in user that they have no access to the application, with a link back: the application gets `access_denied` (RFC 6749
 * section 4.1.2.1). The assignment was checked before.
 */
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { accountLabel, logoOf } from '../../pages/hosted/page-models.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { InteractionDetails, SignInDeps } from '../sign-in/interactions.hosted.ts';

export async function showNotAssigned(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const language = pageLanguage(ctx, details.uiLocales);
  const { application, account } = details;
  const { logo, images } = logoOf(application);
  const title = language.text('not-assigned.title', { application: application.label });
  const locals = {
    ...language,
    title,
    heading: title,
    logo,
    explanation: language.text('not-assigned.text', { application: application.label, name: account ? accountLabel(account) : '' }),
    application: application.label,
    cancel: withCarriedParameters(ctx, `/interaction/${details.serverId}/${details.uid}/return`),
    scripts: ['reload-when-stale.js'],
  };
  await deps.pages.render(ctx, 'not-assigned', locals, { status: 403, images, formAction: details.redirectOrigins });
}

/** Returns to the application. */
export async function returnNotAssigned(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const result = { error: 'access_denied', error_description: 'The user is not assigned to the application' } as const;
  seeOther(ctx, withCarriedParameters(ctx, await deps.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}
