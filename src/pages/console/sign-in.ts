/**
 * Sign-in and sign-out of the console: redirect to the authorization server, return with a code, set the console's own cookie and continue to the
 * requested page. Errors show a page with a link to start again; nothing is retried automatically.
 */
import type Koa from 'koa';
import type { Logger } from 'pino';
import { z } from 'zod';
import { TWO_FACTORS } from '../../features/second-factors/second-factor.policy.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Keys } from '../../platform/crypto/secrets.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { ProtocolProblem } from '../../platform/http/protocol-problem.ts';
import { transactionCookies, transactionFields } from '../../platform/http/transactions.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { ConsoleLanguages } from './language.ts';
import type { Notices } from './notices.ts';
import { type ConsoleCredentials, consoleClient, newSecrets } from './relying-party.ts';
import type { ConsoleSessions } from './session.ts';

/** A longer URL would not fit into the cookie. */
const LONGEST_ADDRESS = 1500;

const transaction = z.object({
  ...transactionFields,
  /** The requested page, with its query. */
  wanted: z.string().startsWith('/admin'),
  /** Was a form submitted to it, which was not processed? */
  formLost: z.boolean(),
});

const NOT_REGISTERED = new ProtocolProblem(
  'not_registered',
  'The application of the console was deleted or deactivated. Restart the service to restore it.',
);
const NO_TRANSACTION = new ProtocolProblem(
  'no_sign_in_under_way',
  'This sign-in is already complete, took longer than ten minutes, or began in another browser or at another address of this service. Sign in again.',
);

export interface ConsoleSignInParts {
  readonly config: Config;
  readonly pages: Pages;
  readonly log: Logger;
  readonly languages: ConsoleLanguages;
  /** 32 bytes each. */
  readonly keys: Keys;
  readonly sessions: ConsoleSessions;
  readonly notices: Notices;
  /** The console's application; undefined if it is not registered. */
  client(): Promise<ConsoleCredentials | undefined>;
}

/** `login`: possibly as another user. `again`: for a page that needs a fresh sign-in. `factor`: the second factor only. */
export type SignInPrompt = 'login' | 'again' | 'factor';

export interface SignIn {
  begin(ctx: Koa.Context, prompt?: SignInPrompt): Promise<void>;
  /** Answers `GET /admin/callback`. */
  finish(ctx: Koa.Context): Promise<void>;
  /** Ends the console's session, then the browser's session at the authorization server. */
  signOut(ctx: Koa.Context): Promise<void>;
}

export function consoleSignIn({ config, pages, log, languages, keys, sessions, notices, client }: ConsoleSignInParts): SignIn {
  const party = consoleClient(config);
  const transactions = transactionCookies({
    kind: 'console-transaction',
    schema: transaction,
    prefix: 'gatehouse_console_',
    path: '/admin',
    keys,
    secure: config.secure,
  });

  async function credentials(): Promise<ConsoleCredentials> {
    const found = await client();
    if (found === undefined) throw NOT_REGISTERED;
    return found;
  }

  /** Shows protocol problems as a page. */
  const explained = (step: (ctx: Koa.Context) => Promise<void>) => async (ctx: Koa.Context) => {
    try {
      await step(ctx);
    } catch (problem) {
      if (!(problem instanceof ProtocolProblem)) throw problem;
      const { code, description } = problem;
      const isChoice = code === 'access_denied';
      if (!isChoice) log.warn({ requestId: ctx.state.requestId, code, description }, 'a sign-in to the console failed');
      const language = languages.of(ctx, undefined);
      const locals = {
        ...language,
        title: language.t(isChoice ? 'Not signed in' : 'Error: The sign-in did not work'),
        isChoice,
        code,
        description,
        home: `${config.baseUrl}/admin`,
      };
      await pages.render(ctx, 'admin/sign-in-problem', locals, { status: isChoice ? 403 : 400 });
    }
  };

  return {
    begin: (ctx, prompt) =>
      explained(async () => {
        const url = ctx.path + ctx.search;
        const secrets = newSecrets();
        const address = await party.authorizationUrl(
          await credentials(),
          secrets,
          prompt === 'login' || prompt === 'again' ? 'login' : undefined,
        );
        // Request the factor even if the policy may not require it: a response without it would only be sent back.
        if (prompt === 'factor') address.searchParams.set('acr_values', TWO_FACTORS);
        const formLost = ctx.method === 'POST';
        const wanted = prompt === 'login' || url.length > LONGEST_ADDRESS ? '/admin' : formLost ? ctx.path : url;
        await transactions.remember(ctx, { ...secrets, wanted, formLost });
        seeOther(ctx, address.href);
      })(ctx),

    finish: explained(async (ctx) => {
      const begun = await transactions.take(ctx, new URLSearchParams(ctx.search).get('state'));
      if (begun === undefined) throw NO_TRANSACTION;
      const signedIn = await party.redeem(await credentials(), begun, ctx.search);
      await sessions.begin(ctx, signedIn);
      if (begun.formLost) await notices.keep(ctx, signedIn.userId, { notice: 'not-carried-out' });
      seeOther(ctx, begun.wanted);
    }),

    signOut: explained(async (ctx) => {
      const session = await sessions.current(ctx);
      sessions.end(ctx);
      seeOther(ctx, party.endSessionUrl(await credentials(), session?.idToken).href);
    }),
  };
}
