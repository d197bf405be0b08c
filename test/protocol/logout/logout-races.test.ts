/**
 * A logout and authorizations of the same browser session at the same instant (OpenID Connect Back-Channel Logout 1.0 section 2.5, RP-Initiated
 * Logout 1.0 section 2): each authorization came before, and its application is told, or after, and asks to sign in.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import type { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, type TestClient } from '../servers/relying-party.ts';
import { signInAt, told, waiting } from './logout-receiver.ts';

const ROUNDS = 20;
/** Nobody listens there: what the outbox holds stays in it. */
const NOWHERE = 'https://app.example/back-channel-logout';

const remaining = (service: Service): Promise<number> =>
  onServer(service.database.url, async (sql) => (await sql.query('SELECT 1 FROM browser_session_clients')).rowCount ?? 0);

/** What becomes of an authorization request. */
async function outcome(browser: UserAgent, url: URL): Promise<'given' | 'refused'> {
  const page = await browser.visit(url);
  if (page.url.origin !== new URL(CALLBACK).origin) {
    assert.equal(page.status, 200);
    assert.match(page.text, /id="sign-in-form"/);
    return 'refused';
  }
  const answer = answerOf(page);
  if ('error' in answer) {
    assert.equal(answer.error, 'login_required');
    return 'refused';
  }
  assert.ok('code' in answer || 'id_token' in answer, page.url.href);
  return 'given';
}

for (const [processes, start] of [
  ['one process', async (t) => [await startService(t)]],
  ['two processes', startTwo],
] as const satisfies readonly (readonly [string, (t: TestContext) => Promise<Service[]>])[]) {
  test(`logout against authorizations at the same instant, ${processes}: whoever is given a code is told of the end`, async (t) => {
    const services = await start(t);
    const [first] = services;
    assert.ok(first !== undefined);
    const user = await first.createUser();
    const outer = await createClient(first);
    const implicit = { response_types: ['code', 'id_token'], grant_types: ['authorization_code', 'implicit'] };
    let [given, refused] = [0, 0];

    for (let round = 0; round < ROUNDS; round += 1) {
      const clients: TestClient[] = [await told(first, NOWHERE), await told(first, NOWHERE), await told(first, NOWHERE, implicit)];
      const { browser, logout } = await signInAt(first, user, [['built-in', outer]]);
      const random = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 12));
      const ask = async ({ clientId }: TestClient, turn: number) => {
        const service = services[turn % services.length] ?? first;
        // The second one may show a page, the third gets an ID token and no code.
        const prompt = turn === 1 ? undefined : 'none';
        const url = authorizeUrl(service, 'default', { client_id: clientId, prompt, response_type: turn === 2 ? 'id_token' : 'code' });
        const own = browser.window(new URL(service.issuer('default')).origin);
        // The first two rounds are no race, so that there are outcomes of either kind.
        if (round > 1) await random();
        return outcome(own, url);
      };
      const early = round === 1 ? await logout() : undefined;
      const asked = Promise.all(clients.map(ask));
      const leave = async () => {
        await (round === 0 ? asked : random());
        return early ?? logout();
      };
      const [{ status }, outcomes] = await Promise.all([leave(), asked]);
      assert.equal(status, 302);
      const toTell: ReadonlySet<unknown> = new Set((await waiting(first.database)).map(({ payload }) => payload.clientId));
      for (const [index, { clientId }] of clients.entries()) {
        if (outcomes[index] === 'given') given += 1;
        else refused += 1;
        assert.equal(toTell.has(clientId), outcomes[index] === 'given', `round ${round}, application ${index}: ${outcomes[index]}`);
      }
      assert.equal(await remaining(first), 0, `round ${round}: no part in an ended session is left`);
    }
    t.diagnostic(`${given} were given an answer and told, ${refused} were asked to sign in`);
    assert.ok(given > 0 && refused > 0, `${given} given, ${refused} refused`);
  });
}
