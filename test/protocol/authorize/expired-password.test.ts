/** Expired passwords at the doors that have no page: `authn` and its change_password, as Okta's Authentication API has them, and the password grant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock, stopClock } from '../../support/clock.ts';
import { codeOf, enrolledUser } from '../../support/factors.ts';
import { type Answer, type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post } from '../servers/relying-party.ts';

const NEW = 'violet engines hum';

const caller =
  (service: Service) =>
  async (path: string, body: unknown): Promise<Pick<Answer, 'status' | 'body'>> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.listensAt}/api/v1/authn${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
type User = Awaited<ReturnType<Service['createUser']>>;
const refusal = ({ status, body }: Pick<Answer, 'status' | 'body'>) => [status, body.errorCode];
const WRONG = [401, 'E0000004'];
const GONE = [401, 'E0000011'];

test('an expired password at `authn` (management API, "authn"; Okta Authentication API, "Change password")', async (t) => {
  const service = await startService(t);
  const call = caller(service);
  const expired = async (): Promise<User> => {
    const user = await service.createUser({ firstName: 'Ada', lastName: 'Hopperton' });
    await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    return user;
  };
  const tokenOf = async ({ login, password }: User): Promise<string> => {
    const { status, body } = await call('', { username: login, password });
    assert.deepEqual([status, body.status], [200, 'PASSWORD_EXPIRED'], JSON.stringify(body));
    return body.stateToken;
  };
  const change = (stateToken: string, oldPassword: string, newPassword = NEW) =>
    call('/credentials/change_password', { stateToken, oldPassword, newPassword });

  await t.test('answers with a state token and no session token; the change with a session token that signs a browser in', async (t) => {
    stopClock(t);
    const user = await expired();
    const { status, body } = await call('', { username: user.login, password: user.password });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['_embedded', 'expiresAt', 'stateToken', 'status']);
    const ahead = Date.parse(body.expiresAt) - Date.now();
    assert.ok(ahead > 590_000 && ahead <= 600_000, body.expiresAt);
    assert.deepEqual([body._embedded.user.id, body._embedded.user.profile.lastName], [user.id, 'Hopperton']);

    moveClock(t, 1);
    const changed = await change(body.stateToken, user.password);
    assert.deepEqual([changed.status, changed.body.status], [200, 'SUCCESS'], JSON.stringify(changed.body));
    assert.ok(changed.body._embedded.user.passwordChanged > body._embedded.user.passwordChanged);
    const client = await createClient(service);
    const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'none', sessionToken: changed.body.sessionToken });
    assert.ok(answerOf(await new UserAgent(service.baseUrl).visit(url)).code);
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
    assert.deepEqual(refusal(await call('', { username: user.login, password: user.password })), WRONG);
    assert.equal((await call('', { username: user.login, password: NEW })).body.status, 'SUCCESS');
    assert.deepEqual(refusal(await change(body.stateToken, NEW, 'another one of mine')), GONE, 'it was used');
  });

  await t.test('asks the old password again, each wrong one counts, and the state token stays', async (t) => {
    const user = await expired();
    const stateToken = await tokenOf(user);
    for (let n = 0; n < 10; n += 1) assert.deepEqual(refusal(await change(stateToken, 'wrong')), WRONG);
    assert.deepEqual(refusal(await change(stateToken, user.password)), WRONG, 'locked');
    moveClock(t, 61);
    assert.equal((await change(stateToken, user.password)).status, 200);
  });

  await t.test('names what is wrong with the new one, and its field; then another may be chosen', async () => {
    const user = await expired();
    const stateToken = await tokenOf(user);
    for (const [password, words] of [
      ['short', 'must have at least 8 characters'],
      ['iloveyou', 'is too common. Choose another one'],
      ['Hopperton1', 'must have at least 8 letters and digits besides the user name, the e-mail address and the names of the user'],
      ['gatehouse!!!!', 'must have at least 8 letters and digits besides the name of this service'],
      [user.password, 'was used before. Choose another one'],
    ] as const) {
      const { status, body } = await change(stateToken, user.password, password);
      assert.deepEqual([status, body.errorCode, body.errorCauses], [400, 'E0000001', [{ errorSummary: `newPassword: ${words}` }]]);
    }
    assert.equal((await change(stateToken, user.password)).status, 200);
  });

  await t.test('a state token is good for ten minutes, for its user, and one at a time; nobody else’s password opens it', async (t) => {
    const [user, other] = [await expired(), await expired()];
    const replaced = await tokenOf(user);
    const stateToken = await tokenOf(user);
    assert.deepEqual(refusal(await change(replaced, user.password)), GONE);
    assert.deepEqual(refusal(await change(stateToken, other.password)), WRONG);
    assert.deepEqual(refusal(await change('nonsense', user.password)), GONE);
    const { body } = await service.api('POST', `/users/${other.id}/lifecycle/reset_password?sendEmail=false`);
    const link = body.resetPasswordUrl.split('/').at(-1);
    assert.deepEqual(refusal(await change(link, other.password)), GONE, 'a link that is sent is none');
    moveClock(t, 601);
    assert.deepEqual(refusal(await change(stateToken, user.password)), GONE);
    assert.equal((await change(await tokenOf(user), user.password)).status, 200);
  });

  await t.test('locked, wrong and unknown are answered alike', async () => {
    const user = await expired();
    for (let n = 0; n < 10; n += 1) await call('', { username: user.login, password: 'wrong' });
    const answers = [
      await call('', { username: user.login, password: user.password }),
      await call('', { username: user.login, password: 'wrong' }),
      await call('', { username: 'nobody-of-these', password: 'wrong' }),
    ];
    assert.equal(new Set(answers.map(({ status, body }) => JSON.stringify([status, { ...body, errorId: '' }]))).size, 1);
    assert.deepEqual(refusal(answers[0] ?? answers[1] ?? { status: 0, body: {} }), WRONG);
  });

  await t.test('the second factor is asked for before the change, over the API and on the pages', async () => {
    const user = await enrolledUser(service);
    const expire = () => service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    await expire();
    const { body } = await call('', { username: user.login, password: user.password });
    assert.deepEqual([body.status, body.sessionToken], ['MFA_REQUIRED', undefined]);
    assert.deepEqual(refusal(await change(body.stateToken, user.password)), GONE);
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit('/signin'), user);
    const form = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    assert.equal((await browser.submit(form, 'choose-password-form', { password: NEW })).url.pathname, '/account');
    const [passCode = ''] = user.recoveryCodes;
    const verified = await call(`/factors/${body._embedded.factors[0].id}/verify`, { stateToken: body.stateToken, passCode });
    assert.deepEqual(refusal(verified), GONE, 'the sign-in under way ended with the password that it was begun by');
  });

  await t.test(
    'the password grant has nobody to ask: invalid_grant, in the words of a wrong password, for an age that is too high, too',
    async (t) => {
      const client = await service.createApp({ grant_types: ['password'], response_types: [] });
      const grant = async ({ login, password }: Pick<User, 'login' | 'password'>) => {
        const { status, body } = await post(service, 'built-in', 'token', client, { grant_type: 'password', username: login, password });
        return [status, body.error, body.error_description];
      };
      const user = await expired();
      const refused = await grant(user);
      assert.deepEqual(refused.slice(0, 2), [400, 'invalid_grant']);
      assert.deepEqual(await grant({ ...user, password: 'wrong' }), refused);
      const aged = await service.createUser();
      assert.equal((await grant(aged))[0], 200);
      await service.api('PUT', '/settings/password', { maxAgeDays: 1 });
      moveClock(t, 86_401);
      assert.deepEqual(await grant(aged), refused);
      await service.api('PUT', '/settings/password', {});
      assert.equal((await grant(aged))[0], 200);
    },
  );
});

test('of twenty changes at once at two processes one succeeds', async (t) => {
  const [first, second] = await startTwo(t);
  const user = await first.createUser();
  await first.api('POST', `/users/${user.id}/lifecycle/expire_password`);
  const { body } = await caller(first)('', { username: user.login, password: user.password });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      caller(n % 2 === 0 ? first : second)('/credentials/change_password', {
        stateToken: body.stateToken,
        oldPassword: user.password,
        newPassword: `choice of number ${n}`,
      }),
    ),
  );
  const winners = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
  assert.equal(winners.length, 1, JSON.stringify(answers.map(refusal)));
  const signedIn = await caller(second)('', { username: user.login, password: `choice of number ${winners[0]}` });
  assert.equal(signedIn.body.status, 'SUCCESS', JSON.stringify([signedIn.body, answers.map(refusal)]));
});

test('of twenty uses of one sessionToken at once at two processes one signs a browser in', async (t) => {
  const [first, second] = await startTwo(t);
  const [user, client] = [await first.createUser(), await createClient(first)];
  const { body } = await caller(second)('', { username: user.login, password: user.password });
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const at = n % 2 === 0 ? first : second;
      const url = authorizeUrl(at, 'built-in', { client_id: client.clientId, prompt: 'none', sessionToken: body.sessionToken });
      const answer = answerOf(await new UserAgent(at.listensAt).visit(url));
      return answer.code === undefined ? answer.error : 'code';
    }),
  );
  assert.deepEqual(outcomes.sort(), ['code', ...Array(19).fill('login_required')]);
});
