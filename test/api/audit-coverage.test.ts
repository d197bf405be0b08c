/**
 * Every change is in the audit log: each operation of the management API that changes something writes an event with who, from where, in which request,
 * and the resource as it was before, as far as there was one, and as it is after, as far as there is one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';
import { type Make, makeWith, STORIES, type ValidCall } from './stories.ts';

interface Row {
  readonly event_type: string;
  readonly actor: { readonly id: string };
  readonly client: { readonly ipAddress?: string; readonly userAgent?: string };
  readonly outcome: { readonly result: string };
  readonly target: readonly { readonly id: string }[];
  readonly debug_context: { readonly before?: unknown; readonly after?: unknown };
}

/** Changes nothing. */
const READS = new Set([
  'POST /authorizationServers/:id/simulate',
  'POST /settings/mail-templates/:kind/:language/preview',
  // Clients of Okta send them: what they set is so always.
  'POST /internal/apps/:id/settings/oauth/idToken',
  'POST /zones/:id/lifecycle/activate',
]);
/** Asks for a browser's session; tested with one in sessions-me.test.ts. */
const IN_BROWSERS = new Set(['DELETE /sessions/me']);
/** What is there before and after, where the method does not say it. */
const AROUND: Readonly<Record<string, readonly [isThereBefore: boolean, isThereAfter: boolean]>> = {
  'POST /account/org/:orgId/domain/:domain/verify': [true, true],
  'PUT /account/org/:orgId/idp/:idpId': [false, true],
  'PUT /account/org/:orgId/member/:userId': [false, true],
  'PUT /apps/:id/users/:userId': [false, true],
  'PUT /apps/:id/groups/:groupId': [false, true],
  'PUT /apps/:id/provisioning': [false, true],
  // It says what is pushed.
  'POST /apps/:id/provisioning/push': [false, true],
  'POST /eventHooks/:id/test': [false, false],
  'POST /ssf/streams/:id/verify': [false, false],
  'PUT /groups/:id/users/:userId': [false, true],
  'POST /idps/:id/users/:userId': [false, true],
  // It asks, and changes nothing of the hook.
  'POST /inlineHooks/:id/execute': [false, false],
  // It tells that a code was sent.
  'POST /users/:id/factors/:factorId/verify': [false, false],
  // All attributes of users are one resource.
  'POST /meta/schemas/user/default': [true, true],
  // The first time it deactivates.
  'DELETE /users/:id': [true, true],
  // Told are all factors of the user.
  'DELETE /users/:id/factors': [true, true],
  'DELETE /users/:id/factors/:factorId': [true, true],
  // It returns to the original.
  'DELETE /settings/mail-templates/:kind/:language': [true, true],
  'DELETE /settings/texts/:language/:key': [true, true],
  // What it ends is not one resource.
  'DELETE /users/:id/sessions': [false, true],
};

/** Nobody answers at the address of the hook. */
const FAILS = new Set(['POST /inlineHooks/:id/execute', 'POST /settings/telephony/test']);

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
const CHANGING = ENDPOINTS.filter(
  (declared) => declared.method !== 'GET' && !READS.has(nameOf(declared)) && !IN_BROWSERS.has(nameOf(declared)),
);

function around(declared: Endpoint): readonly [boolean, boolean] {
  const { method, path } = declared;
  const known = AROUND[nameOf(declared)];
  if (known !== undefined) return known;
  if (path.includes('/lifecycle/')) return [true, true];
  if (method === 'POST') return [/:\w+$/.test(path), true];
  return [true, method !== 'DELETE'];
}

describe('the audit event of every change', () => {
  let api: ManagementApi;
  let make: Make;
  before(async () => {
    api = await startManagementApi();
    make = makeWith(api);
  });
  after(() => api.close());

  const addressOf = (path: string, { params = {}, query = {} }: ValidCall): string =>
    `${path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}?${new URLSearchParams(query)}`;

  /** A call that does change something. */
  async function changingCall(declared: Endpoint): Promise<ValidCall> {
    if (nameOf(declared) === 'DELETE /users/:id/grants') return { params: { id: (await make.grant()).id } };
    const call = await STORIES[nameOf(declared)]?.(make);
    assert(call, 'there is a story');
    const [, owner] = /^(.*)\/lifecycle\/activate$/.exec(declared.path) ?? [];
    // Most are active from the beginning.
    if (owner !== undefined && owner !== '/users' && owner !== '/apps/:id') {
      await api.call('POST', addressOf(`${owner}/lifecycle/deactivate`, call));
    }
    return call;
  }

  for (const declared of CHANGING) {
    it(nameOf(declared), async () => {
      const call = await changingCall(declared);
      const transaction = `request-${crypto.randomUUID()}`;
      const headers = { 'x-request-id': transaction, 'user-agent': 'Audit/1.0' };
      const answer = await api.call(declared.method, addressOf(declared.path, call), call.body, headers);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));

      const events: Row[] = await api.services.database.knex('audit_events').where({ transaction_id: transaction }).orderBy('seq');
      assert.ok(events.length > 0, 'there is an event');
      for (const { actor, client, outcome, target } of events) {
        if (declared.access !== 'anyone') assert.equal(actor.id, api.admin.userId);
        assert.match(client.ipAddress ?? '', /127\.0\.0\.1$/);
        assert.equal(client.userAgent, 'Audit/1.0');
        // The old password was asked for once more, and has expired.
        if (!declared.path.endsWith('/change_password')) assert.equal(outcome.result, FAILS.has(nameOf(declared)) ? 'FAILURE' : 'SUCCESS');
        assert.ok(target.length > 0, 'it says to what it was done');
      }
      if (declared.path.startsWith('/authn')) return;
      const [isThereBefore, isThereAfter] = around(declared);
      const [event] = events;
      assert.deepEqual(
        { before: event?.debug_context.before !== undefined, after: event?.debug_context.after !== undefined },
        { before: isThereBefore, after: isThereAfter },
        JSON.stringify(events),
      );
    });
  }
});
