/** The system log with every kind of entry, one that is explained of each kind, and a search that finds nothing. */

import { authorizeUrl, createClient } from '../../../protocol/servers/relying-party.ts';
import { UserAgent } from '../../../support/user-agent.ts';
import { LONG, type Tour } from '../tour.ts';

interface Entry {
  readonly uuid: string;
  readonly eventType: string;
}

export const reports: Tour = async (service) => {
  const user = await service.createUser({ firstName: LONG });
  await service.api('POST', `/users/${user.id}`, { profile: { firstName: 'Short', lastName: LONG } });
  for (const password of ['wrong', user.password]) await service.api('POST', '/authn', { username: user.login, password });
  const app = await createClient(service, { assignment: 'ASSIGNED' });
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(authorizeUrl(service, 'built-in', { client_id: app.clientId, scope: 'openid' }));
  await browser.signIn(page, user);
  for (let n = 0; n < 21; n += 1) await service.api('POST', '/account/org', { orgName: n === 0 ? LONG : `Reported ${n}` });
  const channel = { type: 'HTTP', version: '1.0.0', config: { uri: 'http://127.0.0.1:9/' } };
  const { body: hook } = await service.api('POST', '/inlineHooks', { name: LONG, type: 'com.okta.oauth2.tokens.transform', channel });
  await service.api('POST', `/inlineHooks/${hook.id}/execute`);
  const { body } = await service.api('GET', '/logs?limit=200&since=2020-01-01T00:00:00Z&sortOrder=DESCENDING');
  const entry = (type: string): string => {
    const found = (body as Entry[]).find(({ eventType }) => eventType === type);
    if (found === undefined) throw new Error(`no event ${type}`);
    return `/reports/log/${found.uuid}`;
  };
  return [
    '',
    '/reports/log',
    '/reports/log/retention',
    '/reports/log?after=9999&type=all+users&outcome=SUCCESS',
    `/reports/log?q=${LONG.toLowerCase()}-of-nobody`,
    '/reports/log?since=2020-01-01T00:00&until=2020-01-02T00:00&actor=nobody&target=nothing',
    `/reports/log?application=${encodeURIComponent(`${LONG} (${app.clientId})`)}`,
    '/reports/log?since=yesterday',
    entry('user.account.update_profile'),
    entry('user.authentication.failure'),
    `${entry('user.authentication.failure')}/explain`,
    `${entry('user.session.start')}/explain`,
    `${entry('inline_hook.executed')}/explain`,
    `${entry('app.oauth2.as.authorize')}/explain`,
  ];
};
