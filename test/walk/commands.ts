/** The steps of the walk: each is carried out at the service, over HTTP, and in the model; then everything is compared. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { fieldsOf } from '../pages/account/arrival.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, type JsonAnswer, userinfo, verifier } from '../protocol/servers/relying-party.ts';
import type { Page } from '../support/user-agent.ts';
import { ASKED_FOR, type Model } from './model.ts';
import type { AuthorizationRequest, Code, Refusal, Token, User } from './things.ts';
import { BROWSERS, newApps, newServers, USERS, type World } from './world.ts';

export type Step = fc.AsyncCommand<Model, World>;

/** @param possible is there anything to do it with? A step that is not is passed over */
function step<T>(
  name: string,
  args: fc.Arbitrary<T>,
  act: (world: World, model: Model, given: T) => Promise<void>,
  possible: (model: Readonly<Model>, given: T) => boolean = () => true,
): fc.Arbitrary<Step> {
  return args.map((given) => ({
    check: (model: Readonly<Model>) => possible(model, given),
    toString: () => `${name}(${fc.stringify(given)})`,
    async run(model: Model, world: World) {
      // Each at a time of its own: what is told in whole seconds has an order.
      world.move(model, 2);
      await act(world, model, given);
      await world.compare(model);
    },
  }));
}

const user = fc.constantFrom(...USERS);
const browser = fc.constantFrom(...BROWSERS);
const app = fc.constantFrom(...Object.keys(newApps()));
const server = fc.constantFrom(...Object.keys(newServers()));
/** Which of a list, in hundredths of it from its end: rather one of the last. */
const which = fc.nat({ max: 99 });
function chosen<T>(list: readonly T[], at: number): T {
  const one = list.at(-1 - Math.floor(list.length * (at / 100) ** 2));
  assert.ok(one !== undefined);
  return one;
}

const SCOPES = [
  ['openid', 'profile', 'offline_access'],
  ['openid', 'offline_access', ASKED_FOR],
  ['profile', 'offline_access', ASKED_FOR],
  ['openid'],
];

const request: fc.Arbitrary<AuthorizationRequest> = fc
  .record({
    browser,
    user,
    app,
    server,
    scopes: fc.constantFrom(...SCOPES),
    prompt: fc.constantFrom(undefined, undefined, undefined, 'none' as const, 'login' as const, 'consent' as const),
    allows: fc.constantFrom(true, true, true, false),
  })
  // The built-in server has no scopes but the standard ones.
  .map((given) => (given.server === 'built-in' ? { ...given, scopes: given.scopes.filter((scope) => scope !== ASKED_FOR) } : given));

async function authorize(world: World, model: Model, asked: AuthorizationRequest): Promise<Code | undefined> {
  const proof = verifier();
  const { browser: name, user: who, app: of, server: at, scopes, prompt, allows } = asked;
  const agent = world.browser(name);
  const parameters = { client_id: world.client(of).clientId, scope: scopes.join(' '), prompt, code_challenge: challengeOf(proof) };
  let page = await agent.visit(authorizeUrl(world.service, at, parameters));
  const has = (shown: Page, id: string) => shown.status < 400 && shown.text.includes(`id="${id}"`);
  if (has(page, 'sign-in-form')) page = await agent.signIn(page, world.person(who));
  if (has(page, 'consent')) page = await agent.submit(page, 'consent', { decision: allows ? 'allow' : 'deny' });
  const { code, error } = answerOf(page);

  const expected = model.authorize(asked);
  if (typeof expected === 'string') {
    const told = page.status === 404 ? 'no server' : page.url.origin === new URL(CALLBACK).origin ? error : undefined;
    const shown = page.text.includes('id="sign-in-form"')
      ? 'not signed in'
      : page.status === 400
        ? 'no application'
        : `${page.status} ${page.url}`;
    assert.equal(told ?? shown, expected);
    return undefined;
  }
  assert.ok(code !== undefined, `no code: ${page.status} ${page.url} ${page.text.slice(0, 3000)}`);
  world.codes.set(expected, { value: code, verifier: proof });
  return expected;
}

/** What the token endpoint answers is what the model issues. */
function take(world: World, { status, body }: JsonAnswer, expected: readonly Token[] | Refusal): void {
  if (typeof expected === 'string') {
    const told =
      status === 404 ? 'no server' : body.error === 'invalid_client' ? 'no application' : body.error === 'invalid_grant' ? 'refused' : '';
    assert.equal(told || `${status} ${JSON.stringify(body)}`, expected);
    return;
  }
  assert.equal(status, 200, JSON.stringify(body));
  const values = { access: body.access_token, id: body.id_token, refresh: body.refresh_token };
  for (const token of expected) world.tokens.set(token, values[token.kind]);
  const { refresh: _, ...others } = values;
  const isNew = ![...world.tokens].some(([token, value]) => value === values.refresh && !expected.includes(token));
  const kinds = [
    ...Object.entries(others).filter(([, value]) => value !== undefined),
    ...(values.refresh !== undefined && isNew ? [['refresh']] : []),
  ];
  assert.deepEqual(kinds.map(([kind]) => kind).sort(), expected.map(({ kind }) => kind).sort());
}

async function exchange(world: World, model: Model, code: Code): Promise<void> {
  const given = world.codes.get(code);
  assert.ok(given !== undefined);
  const form = { grant_type: 'authorization_code', code: given.value, redirect_uri: CALLBACK, code_verifier: given.verifier };
  const answer = await world.post(code.family.server, 'token', code.family.app, form);
  take(world, answer, model.exchange(code));
}

const refreshTokens = ({ tokens }: Readonly<Model>): readonly Token[] => tokens.filter(({ kind }) => kind === 'refresh');
const hasTokens = ({ tokens }: Readonly<Model>): boolean => tokens.length > 0;

async function refresh(world: World, model: Model, { at, narrow }: { at: number; narrow: boolean }): Promise<void> {
  const token = chosen(refreshTokens(model), at);
  const { app: of, server: where, scopes: all } = token.family;
  const scopes = narrow ? all.slice(0, 1) : all;
  const form = { grant_type: 'refresh_token', refresh_token: world.tokens.get(token) ?? '', ...(narrow && { scope: scopes.join(' ') }) };
  take(world, await world.post(where, 'token', of, form), model.refresh(token, scopes));
}

async function revoke(world: World, model: Model, { at, by }: { at: number; by: string | undefined }): Promise<void> {
  const token = chosen(model.tokens, at);
  const caller = by ?? token.family.app;
  const isOpen = model.app(caller).active;
  const { status } = await world.post(token.family.server, 'revoke', caller, { token: world.tokens.get(token) ?? '' });
  assert.equal(status, model.server(token.family.server).active ? (isOpen ? 200 : 401) : 404);
  model.revoke(token, caller);
}

async function askUserinfo(world: World, model: Model, at: number): Promise<void> {
  const token = chosen(model.tokens, at);
  const { status } = await userinfo(world.service, token.family.server, world.tokens.get(token) ?? '').catch(() => ({ status: 404 }));
  const opens = token.kind === 'access' && token.scopes.includes('profile') && model.isActive(token);
  assert.equal(status === 200, opens, `userinfo answers ${status} to ${token.name}`);
}

async function logout(world: World, model: Model, { browser: name, server: at }: { browser: string; server: string }): Promise<void> {
  const session = model.session(name);
  const isHint = ({ kind, family }: Token) =>
    kind === 'id' && family.user === session?.user && family.server === at && model.app(family.app).active;
  // Of what was deleted meanwhile none is left that it could point to.
  const hint = model.tokens.filter((token) => isHint(token) && model.stands(token.family)).at(-1);
  const url = new URL(`${world.service.issuer(at)}/logout`);
  if (hint !== undefined) url.searchParams.set('id_token_hint', world.tokens.get(hint) ?? '');
  const agent = world.browser(name);
  const page = await agent.visit(url);
  const isAsked = page.text.includes('id="logout-form"');
  const isOpen = model.server(at).active;
  assert.equal(isAsked, isOpen && session !== undefined && hint === undefined, `${page.status} ${page.url}`);
  if (isAsked) await agent.submit(page, 'logout-form');
  model.logout(name, at);
}

/** On his own page the user takes one of the permissions back that are shown there. */
async function withdrawByPage(world: World, model: Model, { browser: name, at }: { browser: string; at: number }): Promise<void> {
  const session = model.session(name) ?? assert.fail();
  const agent = world.browser(name);
  const page = await agent.visit('/account/permissions');
  assert.equal(page.url.pathname, '/account/permissions', page.text.slice(0, 2000));
  const forms = [...page.text.matchAll(/id="(end-permission-\d+)"/g)].map(([, id = '']) => ({ id, fields: fieldsOf(page, id) }));
  const shown = forms.map(({ fields }) => ({
    app: [...world.clients].find(([, { clientId }]) => clientId === fields.application)?.[0] ?? '',
    server: fields.server ?? '',
  }));
  for (const { family } of model.tokens.filter((token) => token.kind !== 'id' && model.isActive(token)))
    if (family.user === session.user)
      assert.ok(
        shown.some((one) => one.app === family.app && one.server === family.server),
        `${family.app} at ${family.server} is not shown`,
      );
  if (forms.length === 0) return;
  const form = chosen(forms, at);
  const taken = shown[forms.indexOf(form)] ?? assert.fail();
  await agent.submit(page, form.id);
  model.withdraw(session.user, taken.app, taken.server);
}

async function withdrawAll(world: World, model: Model, who: string): Promise<void> {
  await world.api('DELETE', `/users/${world.person(who).id}/grants`);
  for (const { user: of, app: by, server: at } of [...model.consents.values()]) if (of === who) model.withdraw(of, by, at);
}

/** Is there a token of his that is worth something? */
const holds = (model: Readonly<Model>, who: string | undefined): boolean =>
  model.tokens.some((token) => token.kind !== 'id' && token.family.user === who && model.isActive(token));

const hasConsented = (model: Readonly<Model>, who: string): boolean =>
  model.tokens.some((token) => {
    const { user, app: by, server: at } = token.family;
    const isHis = user === who && token.kind !== 'id' && model.isActive(token);
    return isHis && [...model.consents.values()].some((given) => given.user === who && given.app === by && given.server === at);
  });

const LIFECYCLE: Readonly<Record<User['status'], readonly (readonly [verb: string, to: User['status']])[]>> = {
  ACTIVE: [
    ['deactivate', 'DEPROVISIONED'],
    ['suspend', 'SUSPENDED'],
  ],
  SUSPENDED: [['unsuspend', 'ACTIVE']],
  DEPROVISIONED: [['activate', 'ACTIVE']],
};

async function changeStatus(world: World, model: Model, { user: who, at }: { user: string; at: number }): Promise<void> {
  const [verb, to] = chosen(LIFECYCLE[model.user(who).status], at);
  await world.api('POST', `/users/${world.person(who).id}/lifecycle/${verb}?sendEmail=false`);
  model.setStatus(who, to);
}

async function changePassword(world: World, model: Model, who: string): Promise<void> {
  const person = world.person(who);
  person.password = randomBytes(12).toString('base64url');
  await world.api('POST', `/users/${person.id}`, { credentials: { password: { value: person.password } } });
  model.endAll(who, true);
}

async function switchApp(world: World, model: Model, name: string): Promise<void> {
  const { active } = model.app(name);
  await world.api('POST', `/apps/${world.client(name).clientId}/lifecycle/${active ? 'deactivate' : 'activate'}`);
  model.app(name).active = !active;
}

async function replaceApp(world: World, model: Model, name: string): Promise<void> {
  const { clientId } = world.client(name);
  if (model.app(name).active) await world.api('POST', `/apps/${clientId}/lifecycle/deactivate`);
  await world.api('DELETE', `/apps/${clientId}`);
  await world.makeApp(model, name);
  model.replace('app', name);
}

/** A second secret, and then the first is taken away: no token notices. */
async function rotateSecret(world: World, _: Model, name: string): Promise<void> {
  const client = world.client(name);
  if (client.clientSecret === undefined) return;
  const path = `/apps/${client.clientId}/credentials/secrets`;
  const [old] = (await world.api('GET', path)).body;
  const { client_secret: clientSecret } = (await world.api('POST', path)).body;
  await world.api('DELETE', `${path}/${old.id}`);
  world.clients.set(name, { ...client, clientSecret });
}

/** Whatever cannot be used can be used again: else most of a walk would lead along closed doors. */
async function open(world: World, model: Model): Promise<void> {
  for (const who of USERS) if (model.user(who).status !== 'ACTIVE') await changeStatus(world, model, { user: who, at: 0 });
  for (const name of Object.keys(model.apps)) if (!model.app(name).active) await switchApp(world, model, name);
  if (!model.server('walk').active) await switchServer(world, model);
}

const isShut = ({ users, apps, servers }: Readonly<Model>): boolean =>
  Object.values(users).some(({ status }) => status !== 'ACTIVE') ||
  [...Object.values(apps), ...Object.values(servers)].some(({ active }) => !active);

async function switchServer(world: World, model: Model): Promise<void> {
  const { active } = model.server('walk');
  await world.api('POST', `/authorizationServers/walk/lifecycle/${active ? 'deactivate' : 'activate'}`);
  model.server('walk').active = !active;
}

async function replaceServer(world: World, model: Model): Promise<void> {
  await world.api('DELETE', '/authorizationServers/walk');
  await world.makeServer(model, 'walk');
  model.replace('server', 'walk');
}

const SECONDS = { '5 s': 5, '30 s': 30, '6 min': 360, '15 min': 900, '50 min': 3000, '13 h': 46_800, '29 d': 29 * 86_400 };
const pause = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('5 s' as const, '30 s' as const, '30 s' as const, '6 min' as const, '15 min' as const) },
  { weight: 3, arbitrary: fc.constant('50 min' as const) },
  { weight: 1, arbitrary: fc.constantFrom('13 h' as const, '29 d' as const) },
);

const nothing = fc.constant(undefined);
const often = <T>(times: number, one: T): T[] => Array.from({ length: times }, () => one);

/** What is likelier stands there more often. */
export const STEPS: fc.Arbitrary<Step>[] = [
  ...often(
    6,
    step('obtain', request, async (world, model, asked) => {
      const code = await authorize(world, model, asked);
      if (code !== undefined) await exchange(world, model, code);
    }),
  ),
  step('authorize', request, async (world, model, asked) => void (await authorize(world, model, asked))),
  ...often(
    2,
    step(
      'exchange',
      which,
      (world, model, at) => exchange(world, model, chosen(model.codes, at)),
      ({ codes }) => codes.length > 0,
    ),
  ),
  ...often(
    4,
    step('refresh', fc.record({ at: which, narrow: fc.boolean() }), refresh, (model) => refreshTokens(model).length > 0),
  ),
  ...often(
    2,
    step('revoke', fc.record({ at: which, by: fc.constantFrom(undefined, undefined, ...Object.keys(newApps())) }), revoke, hasTokens),
  ),
  step('userinfo', which, askUserinfo, hasTokens),
  ...often(2, step('logout', fc.record({ browser, server }), logout)),
  ...often(
    2,
    step(
      'end sessions',
      fc.record({ user, tokens: fc.boolean() }),
      async (world, model, { user: who, tokens }) => {
        await world.api('DELETE', `/users/${world.person(who).id}/sessions?oauthTokens=${tokens}`);
        model.endAll(who, tokens);
      },
      (model, given) => holds(model, given.user),
    ),
  ),
  ...often(
    2,
    step('withdraw on the page', fc.record({ browser, at: which }), withdrawByPage, (model, given) =>
      holds(model, model.session(given.browser)?.user),
    ),
  ),
  ...often(2, step('withdraw all', user, withdrawAll, hasConsented)),
  ...often(
    2,
    step('user status', fc.record({ user, at: which }), changeStatus, (model, given) => holds(model, given.user)),
  ),
  ...often(2, step('password', user, changePassword, holds)),
  step('switch application', app, switchApp),
  step('replace application', app, replaceApp),
  step('rotate secret', app, rotateSecret),
  step('switch server', nothing, switchServer),
  ...often(4, step('open', nothing, open, isShut)),
  step('replace server', nothing, replaceServer),
  ...often(
    3,
    step('wait', pause, async (world, model, length) => world.move(model, SECONDS[length])),
  ),
];
