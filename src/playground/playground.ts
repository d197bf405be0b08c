/**
 * The playground at `/playground`: a newcomer presses one button, signs in, and sees what an application receives. It owns the pages and
 * the order of the steps (OpenID Connect Core 1.0 section 3.1.1); the protocol is in relying-party.ts. Registering the application
 * that it signs in to is the business of the first start.
 */
import Router from '@koa/router';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { refuseCrossSite } from '../http/csrf.ts';
import { readForm } from '../http/forms.ts';
import type { Pages } from '../http/pages.ts';
import { seeOther } from '../http/see-other.ts';
import type { Keyring } from '../secrets.ts';
import { isPresent } from './presence.ts';
import { presentSignIn } from './presentation.ts';
import { type Credentials, ProtocolProblem, relyingParty, SERVERS } from './relying-party.ts';
import { type ServerId, serverId, transactionCookies } from './transaction.ts';

export interface PlaygroundDependencies {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly pages: Pages;
  /** The application the playground signs in to; undefined when it is not registered (any more). */
  client(): Promise<Credentials | undefined>;
  readonly log: Logger;
}

const NOT_REGISTERED = new ProtocolProblem(
  'not_registered',
  'The playground signs in to an application of its own, and that application was removed or deactivated.',
);
const NO_TRANSACTION = new ProtocolProblem(
  'no_sign_in_under_way',
  'This sign-in was finished before (was the page loaded again?), took longer than ten minutes, or was begun in another browser.',
);

/** Serves `/playground`, `/playground/start` and `/playground/callback`; where there is no playground they stay unanswered. */
export function playground({ config, keyring, pages, client, log }: PlaygroundDependencies): Koa.Middleware {
  const party = relyingParty(config);
  const transactions = transactionCookies({ key: keyring.keyFor('playground'), secure: config.secure });
  const home = `${config.baseUrl}/playground`;

  const showStart = (ctx: Koa.Context, { problem, chosen = 'built-in' }: { problem?: ProtocolProblem; chosen?: ServerId } = {}) =>
    pages.render(
      ctx,
      'playground',
      {
        title: problem === undefined ? 'Playground' : 'Error: The sign-in did not work',
        stylesheets: ['playground.css'],
        servers: Object.entries(SERVERS).map(([id, { label, path }]) => ({
          id,
          label,
          issuer: config.baseUrl + path,
          chosen: id === chosen,
        })),
        problem,
        // Opened by another name than the base URL's, the browser would come back without its cookie.
        elsewhere: ctx.host === new URL(config.baseUrl).host ? undefined : home,
      },
      { status: problem === undefined ? 200 : 400 },
    );

  /** Runs a step with the application's credentials; a problem of the protocol becomes a page from which to start again. */
  async function withApplication(ctx: Koa.Context, chosen: ServerId, step: (credentials: Credentials) => Promise<void>): Promise<void> {
    try {
      const credentials = await client();
      if (credentials === undefined) throw NOT_REGISTERED;
      await step(credentials);
    } catch (problem) {
      if (!(problem instanceof ProtocolProblem)) throw problem;
      log.warn({ requestId: ctx.state.requestId, code: problem.code, description: problem.description }, 'playground sign-in failed');
      await showStart(ctx, { problem, chosen });
    }
  }

  const router = new Router({ prefix: '/playground' });
  router.get('/', (ctx) => showStart(ctx));
  router.get('/start', (ctx) => seeOther(ctx, home));
  router.post('/start', refuseCrossSite(config), async (ctx) => {
    const chosen = serverId.catch('built-in').parse((await readForm(ctx)).get('server'));
    await withApplication(ctx, chosen, async (credentials) => {
      const { request, transaction } = await party.begin(chosen, credentials);
      await transactions.remember(ctx, transaction);
      seeOther(ctx, request.href);
    });
  });
  router.get('/callback', async (ctx) => {
    const transaction = await transactions.take(ctx, ctx.query.state);
    if (transaction === undefined) return showStart(ctx, { problem: NO_TRANSACTION });
    await withApplication(ctx, transaction.server, async (credentials) => {
      const signIn = await party.finish(new URL(`${home}/callback${ctx.search}`), transaction, credentials);
      await pages.render(ctx, 'playground-result', presentSignIn(signIn));
    });
  });

  // The type asks for params in the context, which the router puts there itself.
  const routes = router.routes() as Koa.Middleware;
  // Passed on, the request gets the service's page for unknown addresses.
  return (ctx, next) => (isPresent(config, ctx.headers) ? routes(ctx, next) : next());
}
