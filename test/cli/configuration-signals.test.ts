/** Signal streams in a configuration file, over the API of a real service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLines } from '../../src/features/configuration/report.ts';
import { startService } from '../support/service.ts';
import { applied, type Content, exported, planned } from './configuring.ts';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';

test('signal streams are made by the file, changed, paused and deleted, and move to another installation', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  const app = {
    label: 'SIEM',
    credentials: { oauthClient: { client_id: 'siem' } },
    settings: { oauthClient: { application_type: 'service', grant_types: ['client_credentials'], response_types: [] } },
  };
  const pushed = {
    applicationId: 'siem',
    description: 'Sessions',
    events: [`${CAEP}/session-revoked`],
    delivery: { method: 'PUSH', endpointUrl: 'https://siem.example/events', authorizationHeader: { env: 'SIEM_HEADER' } },
  };
  const polled = {
    applicationId: 'siem',
    description: 'Credentials',
    status: 'PAUSED',
    events: [`${CAEP}/credential-change`],
    delivery: { method: 'POLL' },
  };
  const env = { SIEM_HEADER: 'Bearer known-to-the-siem' };
  const content = { applications: [app], signalStreams: [pushed, polled] };
  assert.deepEqual(await applied(t, service, content, false, env), []);
  const streams = async (): Promise<Content> => (await service.api('GET', '/ssf/streams')).body;
  const [first, second] = await streams();
  assert.deepEqual(
    [first.status, first.delivery.hasAuthorizationHeader, second.status, second.delivery.method],
    ['ENABLED', true, 'PAUSED', 'POLL'],
  );

  // Those without a description are nobody's but the API's.
  const unnamed = { applicationId: 'siem', events: pushed.events, delivery: { method: 'POLL' } };
  assert.equal((await service.api('POST', '/ssf/streams', unnamed)).status, 200);
  const { signalStreams } = await exported(service);
  const { authorizationHeader: _, ...delivery } = pushed.delivery;
  assert.deepEqual(signalStreams, [{ ...pushed, delivery, status: 'ENABLED' }, polled]);
  assert.deepEqual(await applied(t, other, { applications: [app], signalStreams }), []);
  assert.deepEqual((await exported(other)).signalStreams, signalStreams);
  // It has no header there, which the file has.
  assert.deepEqual((await planned(t, other, { signalStreams: [pushed] }, false, env)).flatMap(reportLines), [
    '~ signal stream siem Sessions',
    '    delivery.authorizationHeader: nothing -> "from the environment"',
    '? signal stream siem Credentials (is not in the file, and is left)',
  ]);

  // Another host needs the header again: the file has it.
  const moved = { ...pushed, status: 'DISABLED', delivery: { ...pushed.delivery, endpointUrl: 'https://other.example/events' } };
  const steps = (await planned(t, service, { signalStreams: [moved, polled] }, false, env)).flatMap(reportLines);
  assert.deepEqual(steps, [
    '~ signal stream siem Sessions',
    '    delivery.endpointUrl: "https://siem.example/events" -> "https://other.example/events"',
    '    status: "ENABLED" -> "DISABLED"',
  ]);
  assert.deepEqual(await applied(t, service, { signalStreams: [moved] }, true, env), []);
  const left = (await streams()).map(({ status, description, delivery: { endpointUrl } }: Content) => [status, description, endpointUrl]);
  assert.deepEqual(left[0], ['DISABLED', 'Sessions', 'https://other.example/events']);
  assert.equal(left.length, 2, 'the stream without a description stays');

  for (const [wrong, reason] of [
    [{ ...pushed, description: '' }, /signalStreams 1: applicationId and description must identify the signal stream/],
    [{ ...polled, description: 'New', status: 'ASLEEP' }, /siem New: status must be ENABLED, PAUSED or DISABLED/],
    [{ ...polled, applicationId: 'nobody' }, /nobody Credentials: applicationId: The application nobody is referenced but does not exist/],
    [
      { ...pushed, delivery: { ...pushed.delivery, authorizationHeader: 'Bearer in-the-open' } },
      /authorizationHeader must not be in the file/,
    ],
  ] as const)
    await assert.rejects(planned(t, service, { signalStreams: [wrong] }, false, env), { message: reason });
});

test('streams of an application with one description are told apart by their order', async (t) => {
  const service = await startService(t);
  const app = {
    label: 'SIEM',
    credentials: { oauthClient: { client_id: 'siem' } },
    settings: { oauthClient: { application_type: 'service', grant_types: ['client_credentials'], response_types: [] } },
  };
  const stream = (event: string) => ({
    applicationId: 'siem',
    description: 'Events',
    status: 'ENABLED',
    events: [`${CAEP}/${event}`],
    delivery: { method: 'POLL' },
  });
  const content = { applications: [app], signalStreams: [stream('session-revoked'), stream('credential-change')] };
  assert.deepEqual(await applied(t, service, content), []);
  assert.deepEqual((await exported(service)).signalStreams, content.signalStreams);
  const changed = { signalStreams: [content.signalStreams[0], { ...content.signalStreams[1], status: 'PAUSED' }] };
  assert.deepEqual((await planned(t, service, changed)).flatMap(reportLines), [
    '~ signal stream siem Events (2)',
    '    status: "ENABLED" -> "PAUSED"',
  ]);
  assert.deepEqual(await applied(t, service, { signalStreams: [content.signalStreams[0]] }, true), []);
  assert.deepEqual((await exported(service)).signalStreams, [content.signalStreams[0]]);

  // A receiver can describe a stream as a number would.
  const numbered = { signalStreams: [...content.signalStreams, { ...stream('session-revoked'), description: 'Events (2)' }] };
  assert.deepEqual(await applied(t, service, numbered), []);
  assert.deepEqual((await exported(service)).signalStreams, numbered.signalStreams);
  assert.deepEqual(await planned(t, service, numbered, true), []);
});
