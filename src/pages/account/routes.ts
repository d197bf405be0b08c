/** Routes of the signed-in user's own pages. */
import Router from '@koa/router';
import type Koa from 'koa';
import { applicationsPage } from '../../features/applications/applications.account.ts';
import { REQUESTS_PAGE } from '../../features/backchannel-requests/request-mails.service.ts';
import { requestsPage } from '../../features/backchannel-requests/requests.account.ts';
import { endPermission, permissionsPage } from '../../features/consents/permissions.account.ts';
import { connectAccount, disconnectAccount, finishConnection } from '../../features/identity-providers/connected-accounts.account.ts';
import { addMessages, confirmMessages } from '../../features/message-factors/message-factor.account.ts';
import { addPasskeyPage, passkeyNamePage, receivePasskey, receivePasskeyName } from '../../features/passkeys/passkey-page.account.ts';
import { passwordPage, receivePassword, receivePasswordRemoval } from '../../features/passwords/password.account.ts';
import { addApp, confirmApp, newCodes, removeApp, securityPage } from '../../features/second-factors/security-page.account.ts';
import { endOtherSessions, receiveEndSession, sessionsPage } from '../../features/sessions/sessions.account.ts';
import { endTrust } from '../../features/trusted-browsers/trusted-browsers.account.ts';
import { activityPage } from '../../features/users/activity.account.ts';
import { dataPage, downloadData } from '../../features/users/data.account.ts';
import { profilePage, receiveEmail, receiveLanguage, receiveProfile } from '../../features/users/profile.account.ts';
import { refuseCrossSite } from '../../platform/http/csrf.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { SECURITY_PAGE, withCarriedParameters } from '../hosted/carried-parameters.ts';
import type { AccountDeps } from './account-deps.ts';

/** @returns middleware for the account pages; other requests go to the next one */
export function accountPages(deps: AccountDeps): Koa.Middleware {
  const back = (address: string) => (ctx: Koa.Context) => seeOther(ctx, withCarriedParameters(ctx, address));
  const router = new Router()
    .use(refuseCrossSite(deps.config))
    .get('/account', (ctx) => applicationsPage(deps, ctx))
    .get('/account/profile', (ctx) => profilePage(deps, ctx))
    .post('/account/profile', (ctx) => receiveProfile(deps, ctx))
    .get('/account/email', back('/account/profile'))
    .post('/account/email', (ctx) => receiveEmail(deps, ctx))
    .get('/account/language', back('/account/profile'))
    .post('/account/language', (ctx) => receiveLanguage(deps, ctx))
    .get('/account/password', (ctx) => passwordPage(deps, ctx))
    .post('/account/password', (ctx) => receivePassword(deps, ctx))
    .get('/account/password/:step', back('/account/password'))
    .post('/account/password/remove', (ctx) => receivePasswordRemoval(deps, ctx))
    .get('/account/sessions', (ctx) => sessionsPage(deps, ctx))
    .get('/account/sessions/:step', back('/account/sessions'))
    .post('/account/sessions/end', (ctx) => receiveEndSession(deps, ctx))
    .post('/account/sessions/end-others', (ctx) => endOtherSessions(deps, ctx))
    .get('/account/permissions', (ctx) => permissionsPage(deps, ctx))
    .get('/account/permissions/:step', back('/account/permissions'))
    .post('/account/permissions/end', (ctx) => endPermission(deps, ctx))
    .get(REQUESTS_PAGE, (ctx) => requestsPage(deps, ctx))
    .get('/account/activity', (ctx) => activityPage(deps, ctx))
    .get('/account/data', (ctx) => dataPage(deps, ctx))
    .post('/account/data', (ctx) => downloadData(deps, ctx))
    .get(SECURITY_PAGE, (ctx) => securityPage(deps, ctx))
    .get(`${SECURITY_PAGE}/upstream`, (ctx) => finishConnection(deps, ctx))
    .get(`${SECURITY_PAGE}/:step`, back(SECURITY_PAGE))
    .post(`${SECURITY_PAGE}/app`, (ctx) => addApp(deps, ctx))
    .post(`${SECURITY_PAGE}/passkey`, (ctx) => addPasskeyPage(deps, ctx))
    .get(`${SECURITY_PAGE}/passkey/:id`, (ctx, next) => passkeyNamePage(deps, ctx, next))
    .post(`${SECURITY_PAGE}/passkey/:id`, (ctx, next) => receivePasskeyName(deps, ctx, next))
    .post(`${SECURITY_PAGE}/enroll-passkey`, (ctx) => receivePasskey(deps, ctx))
    .post(`${SECURITY_PAGE}/enroll`, (ctx) => confirmApp(deps, ctx))
    .post(`${SECURITY_PAGE}/enroll-message`, (ctx) => addMessages(deps, ctx))
    .post(`${SECURITY_PAGE}/enroll-code`, (ctx) => confirmMessages(deps, ctx))
    .post(`${SECURITY_PAGE}/recovery-codes`, (ctx) => newCodes(deps, ctx))
    .post(`${SECURITY_PAGE}/remove`, (ctx) => removeApp(deps, ctx))
    .post(`${SECURITY_PAGE}/end-trust`, (ctx) => endTrust(deps, ctx))
    .post(`${SECURITY_PAGE}/connect`, (ctx) => connectAccount(deps, ctx))
    .post(`${SECURITY_PAGE}/disconnect`, (ctx) => disconnectAccount(deps, ctx));
  // The router adds to the context what its type requires.
  return router.routes() as Koa.Middleware;
}
