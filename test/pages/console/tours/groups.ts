/** Groups, administrators, and how long sessions last. */
import { LONG, type Tour } from '../tour.ts';

export const groups: Tour = async (service) => {
  const { api } = service;
  const create = async (name: string): Promise<string> => (await api('POST', '/groups', { profile: { name, description: LONG } })).body.id;
  const full = await create(`${LONG} of people`);
  const empty = await create('Nobody is in it');
  for (let n = 0; n < 20; n += 1) await create(`Round ${n}`);
  const member = await service.createUser({ firstName: LONG });
  await api('PUT', `/groups/${full}/users/${member.id}`);
  for (let n = 0; n < 20; n += 1) await api('PUT', `/groups/${full}/users/${(await service.createUser()).id}`);
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'] });
  const role = (await api('POST', `/apps/${clientId}/roles`, { name: 'editor', displayName: 'Editors <b>', description: LONG })).body.id;
  await api('PUT', `/apps/${clientId}/groups/${full}`, { roles: ['editor'] });
  const properties = {
    tier: { title: 'Tier <b>', description: 'What they pay', type: 'string', enum: ['gold', 'silver'], unique: 'UNIQUE_VALIDATED' },
    vip: { title: 'Vip', type: 'boolean' },
    tags: { title: 'Tags', type: 'array', items: { type: 'string', enum: ['one', 'two'] } },
  };
  await api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties } } });
  await api('POST', `/users/${member.id}`, { profile: { tier: 'gold', vip: true, tags: ['two'] } });
  return [
    `/applications/${clientId}/roles`,
    `/applications/${clientId}/roles/new`,
    `/applications/${clientId}/roles/${role}`,
    `/applications/${clientId}/roles/${role}/delete`,
    `/applications/${clientId}/assignments/groups/${full}/roles`,
    '/attributes',
    '/attributes/new',
    '/attributes/tier',
    '/attributes/tier/remove',
    `/users/${member.id}/edit`,
    '/groups',
    '/groups?q=Round',
    '/groups/new',
    `/groups/${full}/activity`,
    `/groups/${full}`,
    `/groups/${full}/edit`,
    `/groups/${full}/delete`,
    `/groups/${full}/members`,
    `/groups/${empty}/members`,
    `/groups/${full}/members/new`,
    `/groups/${full}/members/${member.id}/remove`,
    `/groups/${full}/applications`,
    `/groups/${empty}/applications`,
    '/security/administrators',
    '/security/administrators?role=READ_ONLY_ADMIN',
    '/security/administrators/new',
    '/security/sessions',
    '/security/sessions/edit',
  ];
};
