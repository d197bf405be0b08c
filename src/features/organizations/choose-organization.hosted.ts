/**
 * The page for choosing the organization to sign in for, and the page for users who are not members of the requested one. The caller has decided that
 * a page is needed; the choice is validated afterwards.
 */
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { accountLabel, logoOf } from '../../pages/hosted/page-models.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { type InteractionDetails, InteractionEnded, type SignInDeps } from '../sign-in/interactions.hosted.ts';
import type { InteractionResult } from '../sign-in/interactions.resource.ts';
import { listOrganizationsToChoose } from './members.service.ts';

/** Maximum organizations on the page. */
const MOST = 200;

export async function askForOrganization(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const { organization, account, application } = details;
  if (account === undefined || organization === undefined) throw new InteractionEnded('session-changed');
  const language = pageLanguage(ctx, details.uiLocales);
  const { isRefused } = organization;
  const found = isRefused ? [] : await listOrganizationsToChoose(deps.services, account.id, MOST + 1);
  const { logo, images } = logoOf(application);
  const values = { application: application.label, name: accountLabel(account) };
  const title = language.text(isRefused ? 'organization.none.title' : 'organization.title', values);
  const locals = {
    ...language,
    title,
    heading: title,
    logo,
    lead: language.text(isRefused ? 'organization.none.text' : 'organization.lead', values),
    action: withCarriedParameters(ctx, `/interaction/${details.serverId}/${details.uid}/organization`),
    organizations: found.slice(0, MOST),
    more: found.length > MOST ? language.text('organization.more', { count: String(MOST) }) : undefined,
    application: application.label,
    scripts: ['reload-when-stale.js'],
  };
  await deps.pages.render(ctx, 'choose-organization', locals, {
    status: isRefused ? 403 : 200,
    images,
    formAction: details.redirectOrigins,
  });
}

function choiceIn(form: URLSearchParams): InteractionResult {
  const decision = form.get('decision');
  const orgId = form.get('organization');
  if (decision === 'switch') return { switchAccount: true };
  if (decision === 'cancel' || orgId === null) return { error: 'access_denied', error_description: 'The user chose no organization' };
  return { organization: orgId };
}

export async function receiveOrganization(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const choice = choiceIn(await readForm(ctx));
  seeOther(ctx, withCarriedParameters(ctx, await deps.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, choice)));
}
