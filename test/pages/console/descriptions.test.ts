/** Descriptions of up to 1024 characters, in every form that has one: typed whole, and kept as one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { enter, typedIn } from './administrators.ts';

const SERVER = '/authorizationServers/default';

test('a description is as long as the API lets it be; line ends of the form are spaces, and one too long is told beside it', async (t) => {
  const service = await startService(t);
  const made = async (path: string, body: unknown) => (await service.api('POST', path, body)).body;
  const policy = { name: 'Told', status: 'ACTIVE', conditions: { clients: { include: ['ALL_CLIENTS'] } } };
  const group = await made('/groups', { profile: { name: 'Told' } });
  const { id: policyId } = await made(`${SERVER}/policies`, {
    ...policy,
    type: 'OAUTH_AUTHORIZATION_POLICY',
    description: '',
    priority: 1,
  });
  const { id: scopeId } = await made(`${SERVER}/scopes`, { name: 'told' });
  const { id: hookId } = await made('/eventHooks', {
    ...{ name: 'Told', events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create'] } },
    channel: { type: 'HTTP', version: '1.0.0', config: { uri: 'http://127.0.0.1:9/' } },
  });
  const { agent } = await enter(service);
  const long = 'twelve chars'.repeat(80);
  for (const [page, path] of [
    [`/groups/${group.id}/edit`, `/groups/${group.id}`],
    ['/api/servers/default/edit', SERVER],
    [`/api/servers/default/scopes/${scopeId}`, `${SERVER}/scopes/${scopeId}`],
    [`/api/servers/default/policies/${policyId}/edit`, `${SERVER}/policies/${policyId}`],
    [`/api/event-hooks/${hookId}/edit`, `/eventHooks/${hookId}`],
  ] as const) {
    const form = await agent.visit(`/admin${page}`);
    assert.match(form.text, /<textarea id="description"(?![^>]*maxlength)/, `${page}: no browser cuts it off`);
    const tooLong = await agent.submit(form, 'console-form', { description: 'x'.repeat(1025) });
    assert.match(tooLong.text, /id="description-problem">/, page);
    const saved = await agent.submit(form, 'console-form', { description: `${long}\r\n  and more\r\n` });
    assert.equal(saved.status, 200, page);
    const { body } = await service.api('GET', path);
    assert.equal(body.description ?? body.profile.description, `${long} and more`, page);
    assert.equal(typedIn(await agent.visit(`/admin${page}`), 'description'), `${long} and more`, page);
  }
});
