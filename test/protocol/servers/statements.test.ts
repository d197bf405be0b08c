/** What an operation costs the database in a service that is warm: statements counted on the wire, each its own commit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, tokensFor, userinfo, verifier } from './relying-party.ts';

const SCOPE = 'openid profile offline_access';
/** Of so many runs the cheapest counts: caches that end after seconds may be filled anew in any one. */
const RUNS = 4;

for (const serverId of ['built-in', 'default']) {
  test(`statements of each operation on the server ${serverId} (RFC 6749 sections 4.1, 4.4 and 6, RFC 7662, OpenID Connect Core section 5.3)`, async (t) => {
    const own = await testDatabase();
    afterwards(t, () => own.drop());
    const database = await countingProxy(t, own);
    const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
    const user = await service.createUser();
    const shoeSize = { title: 'Shoe size', type: 'integer' };
    await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties: { shoeSize } } } });
    await service.api('POST', `/users/${user.id}`, { profile: { shoeSize: 38 } });
    // The built-in server has no claims of its own.
    const isOwn = serverId !== 'built-in';
    for (const claimType of isOwn ? ['IDENTITY', 'RESOURCE'] : []) {
      const claim = { name: 'shoe_size', claimType, valueType: 'USER_ATTRIBUTE', value: 'shoeSize' };
      assert.equal((await service.api('POST', `/authorizationServers/${serverId}/claims`, claim)).status, 201);
    }
    const app = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
    const browser = new UserAgent(service.baseUrl);
    const tokens = (await tokensFor(service, browser, user, app, { serverId, scope: SCOPE })).body;
    const told = (await userinfo(service, serverId, tokens.access_token)).body;
    assert.equal(told.shoe_size, isOwn ? 38 : undefined, 'an added attribute costs nothing');

    const token = async (form: Record<string, string>) => {
      const { status, body } = await post(service, serverId, 'token', app, form);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const proof = verifier();
    const authorize = async () => {
      const url = authorizeUrl(service, serverId, {
        client_id: app.clientId,
        scope: SCOPE,
        prompt: 'none',
        code_challenge: challengeOf(proof),
      });
      const { code = '' } = answerOf(await browser.visit(url));
      assert.notEqual(code, '');
      return { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof };
    };
    const introspect = async (value: string) => {
      assert.equal((await post(service, serverId, 'introspect', app, { token: value })).body.active, true);
    };
    const signIn = async (person: UserAgent) => {
      const url = authorizeUrl(service, serverId, { client_id: app.clientId, scope: SCOPE, code_challenge: challengeOf(proof) });
      assert.ok(answerOf(await person.signIn(await person.visit(url), user)).code);
    };
    const knownBrowser = async () => {
      const person = new UserAgent(service.baseUrl);
      await signIn(person);
      return person.only('gatehouse-device');
    };
    let latest = tokens.refresh_token;

    const operations: [name: string, atMost: number, prepare: () => Promise<unknown>, act: (prepared: never) => Promise<unknown>][] = [
      ['client credentials', 1, async () => {}, () => token({ grant_type: 'client_credentials' })],
      ['code exchange with refresh and ID token', 2, authorize, (form: Record<string, string>) => token(form)],
      [
        'rotating refresh',
        2,
        async () => {},
        async () => {
          latest = (await token({ grant_type: 'refresh_token', refresh_token: latest })).refresh_token;
        },
      ],
      ['introspection of an access token without hint', 1, async () => {}, () => introspect(tokens.access_token)],
      [
        'introspection by an application that there is not',
        2,
        async () => {},
        () => post(service, serverId, 'introspect', { clientId: 'nobody', clientSecret: 'x' }, { token: tokens.access_token }),
      ],
      ['introspection of a refresh token without hint', 1, async () => {}, () => introspect(latest)],
      ['userinfo', 1, async () => {}, async () => assert.equal((await userinfo(service, serverId, tokens.access_token)).status, 200)],
      ['silent authorize', 2, async () => {}, authorize],
      ['sign-in through the page, in a new browser', 8, async () => new UserAgent(service.baseUrl), signIn],
      ['sign-in through the page, in a known browser', 8, knownBrowser, signIn],
    ];
    for (const [name, atMost, prepare, act] of operations) {
      let cheapest: string[] | undefined;
      for (let run = 0; run < RUNS; run += 1) {
        const prepared = await prepare();
        database.taken();
        await act(prepared as never);
        const taken = database.taken();
        if (cheapest === undefined || taken.length < cheapest.length) cheapest = taken;
      }
      t.diagnostic(`${name}: ${cheapest?.length}`);
      assert.ok(cheapest !== undefined && cheapest.length > 0, name);
      assert.ok(cheapest.length <= atMost, `${name} takes ${cheapest.length} statements:\n${cheapest.join('\n')}`);
      for (const statement of cheapest) assert.doesNotMatch(statement, /^\s*(begin|commit|rollback|start)\b/i, name);
      const commits = cheapest.filter((statement) => /\b(insert|update|delete)\b/i.test(statement)).length;
      assert.ok(commits <= (name.startsWith('sign-in') ? 4 : 1), `${name} commits ${commits} times`);
    }
  });
}
