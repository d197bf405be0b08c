/**
 * The pages of a set-up link, for a customer's administrator without an account here: `/setup/…` asks for confirmation, then `/setup` shows the next
 * step in the browser that has started. Opening a page changes nothing, because mail scanners follow every link.
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { organizationDomain, shownDomain } from '../../platform/dns/domain-name.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { upstreamRedirectUri } from '../identity-providers/upstream-exchange.service.ts';
import { UpstreamFailure } from '../identity-providers/upstream-failure.service.ts';
import { addressOut, consumeCallback, showContinuePage } from '../identity-providers/upstream-redirect.hosted.ts';
import { challengeName } from '../organization-domains/organization-domains.resource.ts';
import { InvalidLink } from '../passwords/choose-password.hosted.ts';
import { countSetupStep } from '../sign-in/failure-limits.service.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import {
  beginSetup,
  chooseDomain,
  findPendingSetup,
  finishSetup,
  type PendingSetup,
  proveDomain,
  readSetup,
  writeProvider,
} from './setup-steps.service.ts';

export const SETUP_PAGE = '/setup';
const COOKIE = 'gatehouse-setup';
const DAYS = 7;

interface Shown {
  /** Problem in the language of the page, and its field. */
  readonly problem?: { readonly field: string; readonly message: string };
  readonly typed?: Readonly<Record<string, string>>;
}

/** GET /setup/:token @throws {InvalidLink} */
export async function setupLink(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const organization = await readSetup(deps.services, ctx.params.token ?? '');
  if (organization === undefined) throw new InvalidLink();
  const language = pageLanguage(ctx);
  const title = language.text('setup.title', { organization });
  const locals = {
    ...language,
    title,
    heading: title,
    step: 'begin',
    action: withCarriedParameters(ctx, ctx.path),
    hidden: deps.formTokens.field(ctx),
  };
  await deps.pages.render(ctx, 'setup', { ...locals, problem: undefined });
  // The URL contains the token, which must not be in any Referer; forms keep their Origin, unlike with `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

/** POST /setup/:token @throws {InvalidLink} */
export async function beginBySetupLink(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  deps.formTokens.verify(ctx, await readForm(ctx));
  const secret = await beginSetup(deps.services, ctx.params.token ?? '', visitor(ctx, deps.config));
  if (secret === undefined) throw new InvalidLink();
  keep(deps, ctx, secret, DAYS * 86_400);
  seeOther(ctx, withCarriedParameters(ctx, SETUP_PAGE));
}

/** GET /setup @throws {InvalidLink} */
export const setupPage = async (deps: SignInDeps, ctx: Koa.Context): Promise<void> => show(deps, ctx, await requirePendingSetup(deps, ctx));

/** POST /setup: receives a step. @throws {InvalidLink} */
export async function receiveSetup(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const setup = await requirePendingSetup(deps, ctx);
  await countSetupStep(deps.services, setup.organization.id);
  const step = form.get('step') ?? '';
  if (step === 'test' && setup.provider !== undefined) return redirectToProvider(deps, ctx, setup);
  const problem = await submitStep(deps, ctx, setup, step, form);
  if (problem === undefined) return seeOther(ctx, withCarriedParameters(ctx, SETUP_PAGE));
  const again = await requirePendingSetup(deps, ctx);
  await show(deps, ctx, again, { problem, typed: Object.fromEntries(form) });
}

/** Executes a step. @returns its problem; undefined: none */
async function submitStep(
  { services, config }: SignInDeps,
  ctx: Koa.Context,
  setup: PendingSetup,
  step: string,
  form: URLSearchParams,
): Promise<Shown['problem']> {
  const { text } = pageLanguage(ctx);
  const request = visitor(ctx, config);
  const value = (name: string) => (form.get(name) ?? '').trim();
  const refused = (field: string, key: MessageKey) => ({ field, message: text(key) });
  try {
    if (step === 'domain') {
      const domain = organizationDomain.safeParse(value('domain'));
      if (!domain.success) return refused('domain', 'setup.problem.domain');
      await chooseDomain(services, setup, domain.data, request);
    }
    if (step === 'other-domain') await chooseDomain(services, setup, null, request);
    if (step === 'proof') await proveDomain(services, setup, request);
    if (step === 'provider') {
      const typed = { issuer: value('issuer'), clientId: value('client-id'), clientSecret: form.get('client-secret') ?? '' };
      if (Object.values(typed).includes('')) return refused('issuer', 'setup.problem.missing');
      await writeProvider(services, setup, typed, request);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (step === 'proof') return refused('check', error.status === 409 ? 'setup.problem.taken' : 'setup.problem.proof');
    return step === 'provider' ? refused('issuer', 'setup.problem.provider') : refused('domain', 'setup.problem.domain');
  }
}

/** Redirects to the company's provider with a page of this service, because the form cannot lead elsewhere (CSP `form-action`). */
async function redirectToProvider(deps: SignInDeps, ctx: Koa.Context, setup: PendingSetup): Promise<void> {
  const { provider } = setup;
  if (provider === undefined) throw new InvalidLink();
  await withProviderErrors(deps, ctx, setup, async () => {
    const out = await addressOut(deps, ctx, provider, 'setup', { uiLocales: pageLanguage(ctx).lang }, {});
    await showContinuePage(deps.pages, ctx, out.href, 'setup.test.heading');
  });
}

/** GET /setup/upstream: handles the response of the company's provider. @throws {InvalidLink} */
export async function finishSetupTest(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const setup = await requirePendingSetup(deps, ctx);
  const { provider } = setup;
  const taken = await consumeCallback(deps, ctx, 'setup');
  const { text } = pageLanguage(ctx);
  const problem = (message: string) => show(deps, ctx, setup, { problem: { field: 'test', message } });
  if (provider === undefined || taken?.kept.idpId !== provider.id) return problem(text('upstream.over'));
  await withProviderErrors(deps, ctx, setup, async () => {
    const { email } = await deps.upstream.identify(provider, taken.kept, taken.response);
    const tried = await finishSetup(deps.services, setup, email, visitor(ctx, deps.config));
    if (tried === 'gone') throw new InvalidLink();
    const domain = shownDomain(setup.row.domain ?? '');
    if (tried === 'no-email') return problem(text('setup.problem.no-email'));
    if (tried !== 'works') return problem(text('setup.problem.foreign', { address: tried.foreign, domain }));
    keep(deps, ctx, '', 0);
    const language = pageLanguage(ctx);
    const heading = language.text('setup.done.heading');
    const done = language.text('setup.done.text', { domain });
    await deps.pages.render(ctx, 'setup', { ...language, languages: [], title: heading, heading, step: 'done', done, problem: undefined });
  });
}

/** Shows provider errors in plain words and logs them. */
async function withProviderErrors(deps: SignInDeps, ctx: Koa.Context, setup: PendingSetup, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const isRefused = error instanceof ApiError;
    if (!isRefused && !(error instanceof UpstreamFailure)) throw error;
    deps.services.log.warn({ err: error, idpId: setup.row.idpId }, 'a test sign-in with an identity provider failed');
    const { text } = pageLanguage(ctx);
    const provider = new URL(setup.provider?.protocol.issuer?.url ?? 'about:blank').host;
    const message = isRefused ? text('setup.problem.taken') : text(`upstream.${error.problem}`, { provider });
    await show(deps, ctx, setup, { problem: { field: 'test', message } });
  }
}

/** @throws {InvalidLink} */
async function requirePendingSetup(deps: SignInDeps, ctx: Koa.Context): Promise<PendingSetup> {
  const secret = cookieIn(ctx, COOKIE, deps.config.secure, SETUP_PAGE) ?? '';
  const setup = secret === '' ? undefined : await findPendingSetup(deps.services, secret);
  if (setup === undefined) throw new InvalidLink();
  return setup;
}

const STEPS = { domain: 1, proof: 1, provider: 2, test: 3 } as const;

function stepOf({ domain, provider }: PendingSetup, ctx: Koa.Context): keyof typeof STEPS {
  if (domain === undefined) return 'domain';
  if (domain.verified === null) return 'proof';
  return provider === undefined || 'change' in ctx.query ? 'provider' : 'test';
}

async function show(deps: SignInDeps, ctx: Koa.Context, setup: PendingSetup, { problem, typed = {} }: Shown = {}): Promise<void> {
  const { row, organization, domain, provider } = setup;
  const language = pageLanguage(ctx);
  const { text } = language;
  const wanted = stepOf(setup, ctx);
  const step = problem !== undefined && typed.step === 'provider' ? 'provider' : wanted;
  const heading = text('setup.title', { organization: organization.name });
  const named = { domain: shownDomain(row.domain ?? '') };
  const locals = {
    ...language,
    ...{ heading, step, problem, hidden: deps.formTokens.field(ctx), action: withCarriedParameters(ctx, SETUP_PAGE) },
    title: problem === undefined ? heading : text('error.title-prefix', { title: heading }),
    count: text('setup.step', { number: String(STEPS[step]) }),
    record: domain && { name: challengeName(domain.domain), value: domain.challenge },
    proofLead: text('setup.proof.lead', named),
    testLead: text(row.mode === 'REQUIRED' ? 'setup.test.required' : 'setup.test.offered', named),
    redirectUri: upstreamRedirectUri(deps.config.baseUrl, row.idpId),
    values: {
      domain: typed.domain ?? '',
      issuer: typed.issuer ?? provider?.protocol.issuer?.url ?? '',
      clientId: typed['client-id'] ?? provider?.protocol.credentials.client.client_id ?? '',
    },
    change: withCarriedParameters(ctx, `${SETUP_PAGE}?change=`),
  };
  await deps.pages.render(ctx, 'setup', locals, { status: problem === undefined ? 200 : 400 });
}

const keep = ({ config: { secure } }: SignInDeps, ctx: Koa.Context, value: string, seconds: number): void =>
  writeCookie(ctx, secure, { name: COOKIE, value, path: SETUP_PAGE, seconds });
