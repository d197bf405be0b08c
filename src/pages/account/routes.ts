/** The signed-in user's own pages, all on one screen: which address shows what. */
import Router from '@koa/router';
import type Koa from 'koa';
import { applicationsPage } from '../../features/applications/applications.account.ts';
import { endPermission, permissionsPage } from '../../features/consents/permissions.account.ts';
import { connectAccount, disconnectAccount, finishConnection } from '../../features/identity-providers/connected-accounts.account.ts';
import { passkeyNamePage, receivePasskeyName } from '../../features/passkeys/passkey-name.account.ts';
import { addPasskeyPage, receivePasskey } from '../../features/passkeys/passkey-page.account.ts';
import { passwordPage, receivePassword } from '../../features/passwords/password.account.ts';
import { addApp, confirmApp, newCodes, removeApp, securityPage } from '../../features/second-factors/security-page.account.ts';
import { endOtherSessions, endSession, sessionsPage } from '../../features/sessions/sessions.account.ts';
import { activityPage } from '../../features/users/activity.account.ts';
import { dataPage, downloadData } from '../../features/users/data.account.ts';
import { profilePage, receiveEmail, receiveLanguage, receiveProfile } from '../../features/users/profile.account.ts';
import { refuseCrossSite } from '../../platform/http/csrf.ts';
import { seeOther } from '../../platform/http/see-other.ts';
import { carryOn, SECURITY_PAGE } from '../hosted/way.ts';
import type { AccountHouse } from './account-house.ts';

/** @returns a middleware for the user's own pages; other addresses go on to the next */
export function accountPages(house: AccountHouse): Koa.Middleware {
  const back = (address: string) => (ctx: Koa.Context) => seeOther(ctx, carryOn(ctx, address));
  const router = new Router()
    .use(refuseCrossSite(house.config))
    .get('/account', (ctx) => applicationsPage(house, ctx))
    .get('/account/profile', (ctx) => profilePage(house, ctx))
    .post('/account/profile', (ctx) => receiveProfile(house, ctx))
    .get('/account/email', back('/account/profile'))
    .post('/account/email', (ctx) => receiveEmail(house, ctx))
    .get('/account/language', back('/account/profile'))
    .post('/account/language', (ctx) => receiveLanguage(house, ctx))
    .get('/account/password', (ctx) => passwordPage(house, ctx))
    .post('/account/password', (ctx) => receivePassword(house, ctx))
    .get('/account/sessions', (ctx) => sessionsPage(house, ctx))
    .get('/account/sessions/:step', back('/account/sessions'))
    .post('/account/sessions/end', (ctx) => endSession(house, ctx))
    .post('/account/sessions/end-others', (ctx) => endOtherSessions(house, ctx))
    .get('/account/permissions', (ctx) => permissionsPage(house, ctx))
    .get('/account/permissions/:step', back('/account/permissions'))
    .post('/account/permissions/end', (ctx) => endPermission(house, ctx))
    .get('/account/activity', (ctx) => activityPage(house, ctx))
    .get('/account/data', (ctx) => dataPage(house, ctx))
    .post('/account/data', (ctx) => downloadData(house, ctx))
    .get(SECURITY_PAGE, (ctx) => securityPage(house, ctx))
    .get(`${SECURITY_PAGE}/upstream`, (ctx) => finishConnection(house, ctx))
    .get(`${SECURITY_PAGE}/:step`, back(SECURITY_PAGE))
    .post(`${SECURITY_PAGE}/app`, (ctx) => addApp(house, ctx))
    .post(`${SECURITY_PAGE}/passkey`, (ctx) => addPasskeyPage(house, ctx))
    .get(`${SECURITY_PAGE}/passkey/:id`, (ctx, next) => passkeyNamePage(house, ctx, next))
    .post(`${SECURITY_PAGE}/passkey/:id`, (ctx, next) => receivePasskeyName(house, ctx, next))
    .post(`${SECURITY_PAGE}/enroll-passkey`, (ctx) => receivePasskey(house, ctx))
    .post(`${SECURITY_PAGE}/enroll`, (ctx) => confirmApp(house, ctx))
    .post(`${SECURITY_PAGE}/recovery-codes`, (ctx) => newCodes(house, ctx))
    .post(`${SECURITY_PAGE}/remove`, (ctx) => removeApp(house, ctx))
    .post(`${SECURITY_PAGE}/connect`, (ctx) => connectAccount(house, ctx))
    .post(`${SECURITY_PAGE}/disconnect`, (ctx) => disconnectAccount(house, ctx));
  // The router itself adds to the context what its type asks for.
  return router.routes() as Koa.Middleware;
}
