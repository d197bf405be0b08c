import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventsOf, type Named, nextPage, tokenWith } from '../../api/administrators.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Assignment extends Named {
  created: string;
  lastUpdated: string;
  scope?: string;
  status?: string;
  statusChanged?: string;
  credentials?: { userName: string };
  profile?: { name: string };
  _links: { self: { href: string } };
}

const KINDS = [
  {
    kind: 'users',
    named: (name: string) => ({ profile: { login: name } }),
    shown: (name: string, since: string) => ({ scope: 'USER', status: 'ACTIVE', statusChanged: since, credentials: { userName: name } }),
    event: 'application.user_membership',
    idField: 'userId',
  },
  {
    kind: 'groups',
    named: (name: string) => ({ profile: { name } }),
    shown: (name: string) => ({ profile: { name } }),
    event: 'group.application_assignment',
    idField: 'groupId',
  },
] as const;

for (const { kind, named, shown, event, idField } of KINDS) {
  describe(`apps/{id}/${kind}: assignment (management API, "Resources")`, () => {
    let api: ManagementApi;
    before(async () => {
      api = await startManagementApi();
    });
    after(() => api.close());

    const createApp = async (): Promise<string> => {
      const settings = { oauthClient: { application_type: 'service' } };
      return (await api.call<Named>('POST', '/apps', { label: 'Assigned', settings })).body.id;
    };
    const create = async (name: string): Promise<string> => {
      const { status, body } = await api.call<Named>('POST', `/${kind}`, named(name));
      assert.equal(status, 200, JSON.stringify(body));
      return body.id;
    };

    it('assigns, shows, lists in pages and takes away; doing it twice changes nothing', async () => {
      const app = await createApp();
      const names = ['ada', '<i>grace</i>', 'لينوس'];
      const ids = [await create('ada'), await create('<i>grace</i>'), await create('لينوس')];
      const put = (id: string | undefined) => api.call<Assignment>('PUT', `/apps/${app}/${kind}/${id}`);
      for (const id of [...ids].reverse()) assert.equal((await put(id)).status, 200);
      const [first] = ids;
      const { body: assignment } = await put(first);
      assert.deepEqual(assignment, {
        id: first,
        created: assignment.created,
        lastUpdated: assignment.created,
        ...shown('ada', assignment.created),
        roles: [],
        _links: { self: { href: `${api.services.config.baseUrl}/api/v1/apps/${app}/${kind}/${first}` } },
      });
      assert.deepEqual((await api.call('GET', `/apps/${app}/${kind}/${first}`)).body, assignment);

      const page = await api.call<Assignment[]>('GET', `/apps/${app}/${kind}?limit=2`);
      const rest = await api.call<Assignment[]>('GET', nextPage(page));
      const listed = [...page.body, ...rest.body];
      assert.deepEqual(
        listed.map(({ id }) => id),
        ids,
        'in the order in which they were made',
      );
      assert.deepEqual(
        listed.map(({ credentials, profile }) => credentials?.userName ?? profile?.name),
        names,
      );
      assert.deepEqual((await api.call('GET', `/apps/${await createApp()}/${kind}`)).body, [], 'another application has none');

      for (let twice = 0; twice < 2; twice += 1) assert.equal((await api.call('DELETE', `/apps/${app}/${kind}/${first}`)).status, 204);
      assert.equal((await api.call('GET', `/apps/${app}/${kind}/${first}`)).status, 404);
      assert.deepEqual((await eventsOf(api, app)).slice(1), [
        ...[...ids].reverse().map((id) => [`${event}.add`, undefined, { applicationId: app, [idField]: id }]),
        [`${event}.remove`, { applicationId: app, [idField]: first }, undefined],
      ]);
    });

    it('assigns one of twenty times', async () => {
      const app = await createApp();
      const id = await create('wanted');
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.call<Assignment>('PUT', `/apps/${app}/${kind}/${id}`)));
      assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body.created}`)).size, 1, 'the same assignment for all');
      assert.equal((await eventsOf(api, app)).length, 2);
    });

    if (kind === 'users') {
      it('is given by POST, too, as Okta has it; what an answer carries may be in the body', async () => {
        const app = await createApp();
        const id = await create('posted');
        const post = (body: object) => api.call<Assignment>('POST', `/apps/${app}/users`, body);
        const posted = await post({ id, scope: 'USER', credentials: { userName: 'posted' } });
        assert.equal(posted.status, 200);
        assert.deepEqual((await api.call('GET', `/apps/${app}/users/${id}`)).body, posted.body);
        assert.deepEqual((await post({ id })).body, posted.body, 'once is enough');
        assert.deepEqual((await eventsOf(api, app)).slice(1), [[`${event}.add`, undefined, { applicationId: app, userId: id }]]);
        const reader = await tokenWith(api, 'READ_ONLY_ADMIN');
        assert.equal((await api.call('POST', `/apps/${app}/users`, { id }, reader)).status, 403);
        const refused = async (body: object) => {
          const { status, body: refusal } = await api.call('POST', `/apps/${app}/users`, body);
          return [status, refusal.errorCauses.map(({ errorSummary }) => errorSummary)];
        };
        assert.deepEqual(await refused({}), [400, ['id: is required']]);
        assert.deepEqual(await refused({ id, profile: {} }), [400, ['profile: is not a field of this resource']]);
        assert.deepEqual(await refused({ id: 'usr_unknown' }), [404, []]);
      });
    }

    it('goes with the application, and with whom it is assigned to', async () => {
      const app = await createApp();
      const id = await create('short-lived');
      await api.call('PUT', `/apps/${app}/${kind}/${id}`);
      assert.equal((await api.call('DELETE', `/${kind}/${id}`)).status, 204);
      // A user is deactivated first.
      if (kind === 'users') assert.equal((await api.call('DELETE', `/${kind}/${id}`)).status, 204);
      assert.deepEqual((await api.call('GET', `/apps/${app}/${kind}`)).body, []);
    });

    it('answers 404 where application or assignee is not there', async () => {
      const app = await createApp();
      const id = await create('lonely');
      const assertMissing = async (method: string, path: string) => {
        const answer = await api.call(method, path);
        assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${path}`);
      };
      for (const method of ['PUT', 'GET', 'DELETE']) {
        for (const path of [`/apps/nothing/${kind}/${id}`, `/apps/${app}/${kind}/nobody`, `/apps/${app}/${kind}/%00`]) {
          await assertMissing(method, path);
        }
      }
      await assertMissing('GET', `/apps/${app}/${kind}/${id}`);
      await assertMissing('GET', `/apps/nothing/${kind}`);
    });
  });
}
