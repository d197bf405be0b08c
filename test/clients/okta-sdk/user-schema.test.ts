/** Attributes of one's own by Okta's SDK: its Schemas API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { oktaClient, refusal, shown } from './client.ts';

test('the schema of users by the official Okta SDK: read, add, change, use, remove', async (t) => {
  const service = await startService(t);
  const { schemaApi, userApi } = oktaClient(service);
  const schemaId = 'default';
  const update = (properties: Record<string, unknown>) =>
    schemaApi.updateUserProfile({
      schemaId,
      userSchema: { definitions: { custom: { id: '#custom', type: 'object', properties, required: [] } } } as never,
    });

  const before = shown(await schemaApi.getUserSchema({ schemaId })) as {
    definitions: Record<string, { properties: Record<string, unknown> }>;
  };
  assert.ok('firstName' in (before.definitions.base?.properties ?? {}));
  const added = shown(
    await update({
      memberNumber: {
        ...{ title: 'Member number', description: 'On the card', type: 'string', required: false, minLength: 1, maxLength: 20 },
        ...{ permissions: [{ action: 'READ_WRITE', principal: 'SELF' }], unique: 'UNIQUE_VALIDATED', master: { type: 'PROFILE_MASTER' } },
      },
      interests: { title: 'Interests', type: 'array', items: { type: 'string', enum: ['books', 'music'] } },
    }),
  ) as typeof before;
  assert.deepEqual(Object.keys(added.definitions.custom?.properties ?? {}), ['memberNumber', 'interests']);

  // As the SDK's own examples do it: read, change the object, send all of it back.
  const whole = await schemaApi.getUserSchema({ schemaId });
  const member = whole.definitions?.custom?.properties?.memberNumber;
  assert.ok(member !== undefined);
  assert.deepEqual([member.title, member.unique, member.permissions?.[0]?.action], ['Member number', 'UNIQUE_VALIDATED', 'READ_WRITE']);
  member.title = 'Card number';
  const sentBack = await schemaApi.updateUserProfile({ schemaId, userSchema: whole });
  assert.equal(sentBack.definitions?.custom?.properties?.memberNumber?.title, 'Card number');

  const user = await userApi.createUser({ body: { profile: { login: 'ada', memberNumber: 'M1', interests: ['books'] } as never } });
  const { body } = await service.api('GET', `/users/${user.id}`);
  assert.deepEqual([body.profile.memberNumber, body.profile.interests], ['M1', ['books']]);
  const [status, code] = await refusal(userApi.createUser({ body: { profile: { login: 'bob', memberNumber: 'm1' } as never } }));
  assert.deepEqual([status, code], [409, 'E0000014']);

  await update({ memberNumber: null, interests: null });
  assert.deepEqual(Object.keys((await service.api('GET', '/meta/schemas/user/default')).body.definitions.custom.properties), []);
});
