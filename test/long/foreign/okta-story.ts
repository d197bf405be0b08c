/**
 * One story that Okta's four SDKs tell in their own languages: an attribute of users, users, a group, applications, an authorization server with a scope, a claim, a
 * policy and a rule, and the log. Each program prints the IDs of what it made, and how much its lists had; here the service is asked what came of it.
 */
import assert from 'node:assert/strict';
import type { ServiceCalls } from '../../support/service.ts';

interface Told extends Readonly<Record<'user' | 'former' | 'group' | 'app' | 'server' | 'scope' | 'claim' | 'policy' | 'rule', string>> {
  /** Title of the added attribute, as the SDK reads it. */
  readonly title: string;
  /** Its mark, as the SDK reads it. */
  readonly unique: string;
  readonly lists: Readonly<Record<'users' | 'members' | 'groups' | 'apps' | 'servers' | 'policies' | 'events', number>>;
}

/** @param output of the program; its last line in braces tells what it made */
export async function checkOktaStory({ api }: Pick<ServiceCalls, 'api'>, output: string): Promise<void> {
  // Maven may begin a line with a colour.
  const line = output.split('\n').findLast((one) => one.includes('{"'));
  const told: Told = JSON.parse(line?.slice(line.indexOf('{"')) ?? 'null');
  assert.ok(told !== null, output);
  const read = async (path: string) => {
    const { status, body } = await api('GET', path);
    assert.equal(status, 200, `${path} ${JSON.stringify(body)}`);
    return body;
  };
  const { seats } = (await read('/meta/schemas/user/default')).definitions.custom.properties;
  assert.deepEqual([seats.title, seats.type, told.title], ['Places', 'integer', 'Places']);
  assert.deepEqual([seats.unique, told.unique], ['UNIQUE_VALIDATED', 'UNIQUE_VALIDATED']);
  const user = await read(`/users/${told.user}`);
  assert.deepEqual([user.status === 'DEPROVISIONED', user.profile.firstName, user.profile.lastName], [false, 'Ada', 'Byron']);
  assert.equal((await api('GET', `/users/${told.former}`)).status, 404);
  assert.deepEqual(
    (await read(`/groups/${told.group}/users`)).map(({ id }: { id: string }) => id),
    [told.user],
  );
  const app = await read(`/apps/${told.app}`);
  assert.deepEqual([app.label, app.settings.oauthClient.redirect_uris], ['Shop', ['https://app.example/callback']]);
  assert.equal((await read(`/apps/${told.app}/groups`))[0].id, told.group);
  const labels = (await read('/apps')).map(({ label }: { label: string }) => label);
  assert.ok(!labels.includes('Former'), String(labels));
  const at = `/authorizationServers/${told.server}`;
  assert.deepEqual((await read(at)).audiences, ['https://orders.example']);
  assert.equal((await read(`${at}/scopes/${told.scope}`)).consent, 'REQUIRED');
  assert.equal((await read(`${at}/claims/${told.claim}`)).valueType, 'GROUPS');
  assert.deepEqual((await read(`${at}/policies/${told.policy}`)).conditions.clients.include, [told.app]);
  const rule = await read(`${at}/policies/${told.policy}/rules/${told.rule}`);
  assert.deepEqual([rule.name, rule.actions.token.accessTokenLifetimeMinutes], ['Everyone', 30]);
  const few = Object.entries(told.lists).filter(([name, count]) => count < (name === 'events' ? 5 : 1));
  assert.deepEqual(few, [], output);
}
