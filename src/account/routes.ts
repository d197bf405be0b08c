/** The signed-in user's own pages, all on one screen: which address shows what. */
import Router from '@koa/router';
import type Koa from 'koa';
import { SECURITY_PAGE } from '../hosted/fresh-sign-in.ts';
import { carryOn } from '../hosted/way.ts';
import { refuseCrossSite } from '../http/csrf.ts';
import { seeOther } from '../http/see-other.ts';
import type { AccountHouse } from './account-house.ts';
import { activityPage } from './activity.ts';
import { applicationsPage } from './applications.ts';
import { connectAccount, disconnectAccount, finishConnection } from './connected-accounts.ts';
import { dataPage, downloadData } from './data.ts';
import { passkeyNamePage, receivePasskeyName } from './passkey-name.ts';
import { addPasskeyPage, receivePasskey } from './passkey-page.ts';
import { passwordPage, receivePassword } from './password.ts';
import { endPermission, permissionsPage } from './permissions.ts';
import { profilePage, receiveEmail, receiveLanguage, receiveProfile } from './profile.ts';
import { addApp, confirmApp, newCodes, removeApp, securityPage } from './security-page.ts';
import { endOtherSessions, endSession, sessionsPage } from './sessions.ts';

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
