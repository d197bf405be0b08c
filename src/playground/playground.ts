/**
 * The playground at `/playground`: users press one button, sign in, and see what an application receives. They can also choose the request and use
 * the tokens. This file defines the paths and the order of the steps (OpenID Connect Core 1.0 section 3); relying-party.ts implements the protocol.
 * The first start registers the playground's application.
 */
import Router from '@koa/router';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import type { Keyring } from '../platform/crypto/secrets.ts';
import { refuseCrossSite } from '../platform/http/csrf.ts';
import { readForm, seeOther } from '../platform/http/forms.ts';
import { ProtocolProblem } from '../platform/http/protocol-problem.ts';
import type { Pages } from '../platform/http/views.ts';
import { phrase, type Text } from '../platform/i18n/phrase.ts';
import { act, readAction } from './actions.ts';
import { type Choices, choiceFields, DEFAULT_CHOICES, readChoices } from './choices.ts';
import { presentProblem, presentRequest, presentResult } from './presentation.ts';
import { newTransaction, type PlaygroundCredentials, playgroundClient, type ServerAccess } from './relying-party.ts';
import { isPresent, playgroundTransactions, sessionSeal } from './session.ts';
import { finishSignIn, type Response } from './sign-in.ts';
import { playgroundLanguages, presentStart, type Server, serverPhrase } from './start-page.ts';

export interface PlaygroundDependencies {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly pages: Pages;
  /** The playground's application; undefined if it is not registered. */
  client(): Promise<PlaygroundCredentials | undefined>;
  /** The active authorization servers. */
  servers(): Promise<readonly Server[]>;
  readonly log: Logger;
}

const NOT_REGISTERED = new ProtocolProblem(
  'not_registered',
  'The playground signs in to an application of its own, and that application was removed or deactivated.',
);
const NO_SERVER = new ProtocolProblem('unknown_server', 'There is no such authorization server, or it was deactivated.');
const NO_TRANSACTION = new ProtocolProblem(
  'no_sign_in_under_way',
  'This sign-in is already complete, took longer than ten minutes, or began in another browser. Sign in again.',
);
const NO_SESSION = new ProtocolProblem(
  'sign_in_not_at_hand',
  'The playground stores nothing. The data in this page is older than ten minutes, or was changed.',
);

const NO_SECRET = new ProtocolProblem(
  'no_client_secret',
  'Your application has a secret, but you entered none. The playground keeps it only for one sign-in. Enter it again under “More choices”.',
);

/** Server and application of a step. */
interface Place {
  readonly server: ServerAccess;
  readonly serverName: Text;
  readonly issuer: string;
  readonly clientId: string;
}

/** @returns the credentials of the user's own application, if one is selected @throws {ProtocolProblem} its secret is missing */
function ownCredentials(
  { client_id: clientId, client_auth: method }: Choices,
  secret: string | undefined,
): PlaygroundCredentials | undefined {
  if (clientId === '') return undefined;
  if (method === 'none') return { clientId };
  if (secret === undefined) throw NO_SECRET;
  return { clientId, clientSecret: secret, method };
}

/** Serves `/playground` and paths below it; without a playground, these requests go to the next handler. */
export function playground({ config, keyring, pages, client, servers, log }: PlaygroundDependencies): Koa.Middleware {
  const party = playgroundClient(config);
  const words = playgroundLanguages(log);
  const keys = keyring.keysOf('playground');
  const transactions = playgroundTransactions({ keys, secure: config.secure });
  const sessions = sessionSeal(keys);
  const home = `${config.baseUrl}/playground`;

  /** @param locals.title in English; texts are translated when the page is rendered */
  const show = (ctx: Koa.Context, view: string, locals: Record<string, unknown> & { readonly title: Text }, status = 200) =>
    pages.render(ctx, view, { ...locals, ...words.of(ctx, view === 'playground'), title: words.of(ctx).t(locals.title) }, { status });

  async function showStart(ctx: Koa.Context, chosen: Choices = DEFAULT_CHOICES, problem?: ProtocolProblem): Promise<void> {
    const locals = {
      ...presentStart(await servers(), chosen, ctx.query.response_type !== undefined),
      title: problem === undefined ? 'Playground' : 'Error: The sign-in did not work',
      problem,
      redirectUri: `${home}/callback`,
      postLogoutRedirectUri: home,
      signedOut: ctx.query.state === 'signed-out',
      // If the page was opened with another host name than BASE_URL's, the browser would return without its cookie.
      elsewhere: ctx.host === new URL(config.baseUrl).host ? undefined : { href: home, label: phrase('Open {address}', { address: home }) },
    };
    await show(ctx, 'playground', locals, problem === undefined ? 200 : 400);
  }

  /** Runs a step at the selected server; a problem with nothing to show becomes a page with a link to the start. */
  async function at(ctx: Koa.Context, chosen: Choices, secret: string | undefined, step: (place: Place) => Promise<void>): Promise<void> {
    try {
      const credentials = ownCredentials(chosen, secret) ?? (await client());
      if (credentials === undefined) throw NOT_REGISTERED;
      const found = (await servers()).find(({ id }) => id === chosen.server);
      if (found === undefined) throw NO_SERVER;
      const server = await party.at(found.issuer, credentials);
      await step({ server, serverName: serverPhrase(found), issuer: found.issuer, clientId: credentials.clientId });
    } catch (problem) {
      if (!(problem instanceof ProtocolProblem)) throw problem;
      report(ctx, problem);
      await showStart(ctx, chosen, problem);
    }
  }

  const report = (ctx: Koa.Context, { code, description }: ProtocolProblem) =>
    log.warn({ requestId: ctx.state.requestId, code, description }, 'playground sign-in failed');

  async function receive(ctx: Koa.Context, response: Response): Promise<void> {
    const transaction = await transactions.take(ctx, response.parameters.get('state'));
    if (transaction === undefined) return showStart(ctx, DEFAULT_CHOICES, NO_TRANSACTION);
    await at(ctx, transaction.choices, transaction.secret, async (place) => {
      const { session, problem } = await finishSignIn(response, transaction, place);
      if (problem === undefined) {
        await show(ctx, 'playground-story', await presentResult({ ...place, session }, await sessions.seal(session)));
      } else {
        report(ctx, problem);
        await show(ctx, 'playground-story', presentProblem(session, problem), 400);
      }
    });
  }

  const router = new Router({ prefix: '/playground' });
  const ownForm = refuseCrossSite(config);
  router.get('/', (ctx) => showStart(ctx, readChoices(new URLSearchParams(ctx.querystring))));
  for (const step of ['/start', '/action']) router.get(step, (ctx) => seeOther(ctx, home));

  router.post('/start', ownForm, async (ctx) => {
    const form = await readForm(ctx);
    const chosen = readChoices(form);
    const carried = (await sessions.open(form.get('session') ?? ''))?.secret;
    const secret = chosen.client_auth === 'none' ? undefined : form.get('client_secret')?.slice(0, 1024) || carried;
    await at(ctx, chosen, secret, async ({ server }) => {
      const transaction = newTransaction(chosen, secret);
      const request = await server.authorizationRequest(transaction);
      await transactions.remember(ctx, transaction);
      if (form.has('preview')) await show(ctx, 'playground-story', presentRequest(chosen, request));
      else seeOther(ctx, request.url.href);
    });
  });

  router.get('/callback', async (ctx) => {
    if (ctx.search !== '') return receive(ctx, { parameters: new URLSearchParams(ctx.search), by: 'query' });
    // Perhaps the answer is in the fragment, which only a script of the page can see.
    const { choices = DEFAULT_CHOICES } = (await transactions.latest(ctx)) ?? {};
    await show(ctx, 'playground-fragment', {
      title: 'Reading the answer',
      stylesheets: ['playground.css'],
      scripts: ['playground-fragment.js'],
      choiceFields: choiceFields({ ...choices, response_mode: 'form_post' }),
    });
  });
  router.post('/callback', ownForm, async (ctx) => {
    const form = await readForm(ctx);
    const fragment = form.get('fragment');
    if (fragment === null) await receive(ctx, { parameters: form, by: 'form_post' });
    else await receive(ctx, { parameters: new URLSearchParams(fragment), by: 'fragment' });
  });

  router.post('/action', ownForm, async (ctx) => {
    const form = await readForm(ctx);
    const session = await sessions.open(form.get('session') ?? '');
    if (session === undefined) return showStart(ctx, DEFAULT_CHOICES, NO_SESSION);
    const wanted = readAction(form.get('action'), session);
    await at(ctx, session.choices, session.secret, async (place) => {
      if (wanted === undefined)
        return show(ctx, 'playground-story', await presentResult({ ...place, session }, await sessions.seal(session)));
      const { happened, after } = await act(place.server, session, wanted);
      await show(ctx, 'playground-story', await presentResult({ ...place, session: after }, await sessions.seal(after), happened));
    });
  });

  // The router adds the params that the type requires.
  const routes = router.routes() as Koa.Middleware;
  // Passed on, the request gets the service's page for unknown addresses.
  return (ctx, next) => (isPresent(config, ctx.headers) ? routes(ctx, next) : next());
}
