/** Reports → System log and “explain”, without JavaScript: what is found, what is told of one event, and who is shown what. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { ConsoleUser } from '../../../src/features/administrators/administrators.service.ts';
import { zoneOfViewer } from '../../../src/pages/console/viewer-zone.ts';
import { startOfDay } from '../../../src/platform/clock/time-zones.ts';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const LOG = '/admin/reports/log';

/** The rows of a list: their words. */
const rowsOf = ({ text }: Page, name = 'System log'): string[] => {
  const [, body = ''] = new RegExp(`aria-label="${name}">[\\s\\S]*?<tbody[^>]*>([\\s\\S]*?)</tbody>`).exec(text) ?? [];
  return [...body.matchAll(/<tr[\s\S]*?<\/tr>/g)].map(([row]) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
};

const linkTo = ({ text, url }: Page, label: string): string =>
  new RegExp(`<a[^>]*href="([^"]+)"[^>]*>(?:<svg[^>]*>(?:(?!</a>)[\\s\\S])*?</svg>)?(?:<bdi>)?${label}`)
    .exec(text)?.[1]
    ?.replaceAll('&amp;', '&') ?? assert.fail(`${url}: no link ${label}`);

async function entryOf(service: Service, type: string): Promise<string> {
  const { body } = await service.api('GET', `/logs?limit=1&sortOrder=DESCENDING&filter=${encodeURIComponent(`eventType eq "${type}"`)}`);
  return `${LOG}/${body[0]?.uuid ?? assert.fail(`no event ${type}`)}`;
}

test('the system log is searched, narrowed by every field, paged with what narrows it, and kept as a file', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Ada' });
  await service.api('POST', '/authn', { username: user.login, password: 'wrong' });
  for (let n = 0; n < 52; n += 1) await createOrganization(service, `Org-${String(n).padStart(2, '0')}`);
  const { agent } = await enter(service);
  const search = async (query: Record<string, string>) => agent.visit(`${LOG}?${new URLSearchParams(query)}`);

  await t.test('newest first, fifty a page, with milliseconds and address', async () => {
    const page = await agent.visit(LOG);
    const rows = rowsOf(page);
    assert.equal(rows.length, 50);
    assert.match(
      rows[0] ?? '',
      /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d\.\d{3} UTC User single sign on to app user\.authentication\.sso admin admin \+1 Admin console 127\.0\.0\.1 Success/,
      'this administrator has just signed in',
    );
    assert.match(rows[1] ?? '', /User login user\.session\.start admin/);
    assert.match(rows[2] ?? '', /Org-51/);
  });

  await t.test('twenty, fifty or a hundred a page, with what narrows it', async () => {
    const page = await search({ type: 'org.lifecycle.create', size: '20' });
    assert.equal(rowsOf(page).length, 20);
    assert.match(wordsOf(page), /Rows per page: 20 50 100/);
    assert.match(page.text, /<a href="[^"]*size=20" aria-current="true">20</);
    assert.match(page.text, /<input type="hidden" name="size" value="20">/, 'the next search leaves it');
    assert.equal(rowsOf(await agent.visit(linkTo(page, 'Next page'))).length, 20);
    assert.equal(rowsOf(await agent.visit(linkTo(page, '100'))).length, 52);
    assert.doesNotMatch(linkTo(page, 'Download as CSV'), /size/);
    assert.equal(rowsOf(await agent.visit(`${LOG}?size=7`)).length, 50);
  });

  await t.test('live, where a script reads on; without it, by a link to newer events', async () => {
    const live = await agent.visit(linkTo(await search({ type: 'org.lifecycle.create' }), 'Live view'));
    assert.match(live.text, /<script[^>]*live\.js/);
    assert.doesNotMatch((await agent.visit(LOG)).text, /live\.js/);
    assert.equal(live.url.searchParams.get('type'), 'org.lifecycle.create');
    assert.equal((await agent.visit(linkTo(live, 'Newer'))).url.search, live.url.search);
    const stopped = await agent.visit(linkTo(live, 'Stop live view'));
    assert.equal(stopped.url.search, '?type=org.lifecycle.create');
    assert.doesNotMatch(linkTo(live, 'Download as CSV'), /live/);
  });

  await t.test('by words, group, type, outcome, who, to what', async () => {
    const narrowings: readonly (readonly [Record<string, string>, number, RegExp])[] = [
      [{ q: 'org-07' }, 1, /Org-07/],
      [{ type: 'user.authentication.failure' }, 1, /INVALID_CREDENTIALS/],
      [{ type: 'all users', outcome: 'FAILURE' }, 1, /user\.authentication\.failure/],
      [{ target: user.id, type: 'user.lifecycle.create' }, 1, /user\.lifecycle\.create/],
      [{ target: user.login.toUpperCase(), outcome: 'FAILURE' }, 1, /Failure/],
      [{ actor: 'unknown' }, 1, /INVALID_CREDENTIALS/],
      [{ actor: 'nobody "or" true' }, 0, /^$/],
      [{ since: '2099-01-01T00:00' }, 0, /^$/],
      [{ until: '2020-01-01T00:00' }, 0, /^$/],
    ];
    for (const [query, count, words] of narrowings) {
      const page = await search(query);
      const rows = rowsOf(page);
      assert.equal(rows.length, count, JSON.stringify([query, rows]));
      assert.match(rows[0] ?? '', words, JSON.stringify(query));
      assert.match(page.text, /id="show-all"/);
      if (count === 0) assert.match(wordsOf(page), /No matches\./);
    }
    const page = await search({ q: 'org-07', type: 'org.lifecycle.create', outcome: 'SUCCESS', since: '2020-01-01T00:00' });
    assert.match(page.text, /name="q" type="search" value="org-07"/);
    assert.match(page.text, /value="org\.lifecycle\.create" selected/);
    assert.match(page.text, /value="SUCCESS" selected/);
    assert.match(page.text, /name="since"[^>]*value="2020-01-01T00:00"/);
  });

  await t.test('each filter is a chip that leads to the list without it', async () => {
    const page = await search({ q: 'org-07', type: 'org.lifecycle.create', outcome: 'SUCCESS' });
    const chips = [...page.text.matchAll(/<li><a href="([^"]+)">([^<]+): <bdi>([^<]+)<\/bdi> <span aria-hidden="true">×/g)].map(
      ([, href = '', label, value]) => [href.replaceAll('&amp;', '&'), label, value],
    );
    assert.deepEqual(chips, [
      [`${LOG}?type=org.lifecycle.create&outcome=SUCCESS`, 'Search', 'org-07'],
      [`${LOG}?q=org-07&outcome=SUCCESS`, 'Event', '– org.lifecycle.create'],
      [`${LOG}?q=org-07&type=org.lifecycle.create`, 'Outcome', 'Success'],
    ]);
    assert.doesNotMatch((await agent.visit(LOG)).text, /class="chips"/);
  });

  await t.test('by request ID, and by address', async () => {
    const { body } = await service.api(
      'GET',
      `/logs?limit=1&sortOrder=DESCENDING&filter=${encodeURIComponent('eventType eq "user.session.start"')}`,
    );
    assert.match(rowsOf(await search({ q: body[0].transaction.id }))[0] ?? '', /user\.session\.start/);
    assert.equal(rowsOf(await search({ q: '127.0.0.1', type: 'user.authentication.failure' })).length, 1);
    assert.equal(rowsOf(await search({ q: '203.0.113.9' })).length, 0);
  });

  await t.test('the next page is narrowed as the first one', async () => {
    const first = await search({ type: 'org.lifecycle.create' });
    const next = await agent.visit(linkTo(first, 'Next page'));
    assert.equal(next.url.searchParams.get('type'), 'org.lifecycle.create');
    const rows = [...rowsOf(first), ...rowsOf(next)];
    assert.deepEqual(
      rows.map((row) => /Org-\d\d/.exec(row)?.[0]),
      Array.from({ length: 52 }, (_, n) => `Org-${String(51 - n).padStart(2, '0')}`),
    );
    assert.doesNotMatch(next.text, /Next page/);
  });

  await t.test('what cannot be searched for is told, and what was typed stays', async () => {
    const page = await search({ q: 'a b c d e f g h i j k', type: 'org.update' });
    assert.equal(page.status, 200);
    assert.match(page.text, /id="q-problem">Must have at most 10 words</);
    assert.match(wordsOf(page), /The search failed/);
    assert.match(page.text, /value="a b c d e f g h i j k"/);
    for (const [field, typed] of [
      ['since', 'yesterday'],
      ['until', '2026-13-45T99:99'],
    ] as const) {
      const wrong = await search({ [field]: typed, after: 'x' });
      assert.equal(wrong.status, 200);
      assert.match(wrong.text, new RegExp(`id="${field}-problem">Must be a date with a time`), field);
      assert.match(wrong.text, new RegExp(`id="${field}"[^>]*value="${typed}"[^>]*aria-invalid="true"`), field);
      assert.doesNotMatch(wrong.text, /<table class="list"|as NDJSON/, 'nothing else is looked for instead');
      assert.equal((await agent.send(`/admin/reports/log/download?${field}=${typed}`)).status, 400);
    }
    assert.match((await search({ q: 'a\u0000b' })).text, /id="q-problem">[^<]*control characters/);
  });

  await t.test('the file holds what the list is narrowed to, as the API tells it', async () => {
    const page = await search({ type: 'org.lifecycle.create', actor: 'admin' });
    const file = await agent.send(linkTo(page, 'Download as NDJSON'));
    assert.match(file.headers.get('content-disposition') ?? '', /attachment; filename="system-log\.ndjson"/);
    assert.match(file.headers.get('content-type') ?? '', /^application\/x-ndjson/);
    const events = (await file.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(events.length, 52, 'beyond the page');
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent(`uuid eq "${events[0].uuid}"`)}`);
    assert.deepEqual(events[0], body[0]);

    const csv = await agent.send(linkTo(page, 'Download as CSV'));
    assert.match(csv.headers.get('content-disposition') ?? '', /attachment; filename="system-log\.csv"/);
    const [head = '', ...lines] = (await csv.text()).trimEnd().split('\n');
    assert.match(head, /^\ufeff?published,eventType,displayMessage,.*,requestId,uuid$/);
    assert.match(head, /,targets,applicationId,application,ipAddress,/);
    assert.equal(lines.length, 52, 'beyond the page');
    const sso = await agent.send(`${LOG}/download?format=csv&type=user.authentication.sso`);
    assert.match(await sso.text(), /,console,Admin console,/);
    assert.ok(lines[0]?.startsWith(`${events[0].published},org.lifecycle.create,`) && lines[0].endsWith(events[0].uuid), lines[0]);
  });

  await t.test('a value is clicked to see its like; a failed password names the account', async () => {
    const user = await service.createUser();
    await service.api('POST', '/authn', { username: user.login, password: 'wrong' });
    const page = await search({ q: user.login, type: 'user.authentication.failure' });
    const [row = ''] = rowsOf(page);
    assert.match(row, new RegExp(`${user.login} not proven`));
    for (const label of ['user\\.authentication\\.failure', 'INVALID_CREDENTIALS'])
      assert.ok(
        rowsOf(await agent.visit(linkTo(page, label))).some((one) => one.includes(user.login)),
        label,
      );
    assert.ok(rowsOf(await agent.visit(linkTo(page, 'Newer'))).length > 0);
    assert.ok(rowsOf(await agent.visit(linkTo(page, 'Today'))).length > 0);
    const target = await agent.visit(linkTo(page, user.login));
    assert.equal(target.url.searchParams.get('target'), `${user.login} (${user.id})`, 'who is not proven is no actor');
  });

  await t.test('each value of a row narrows the list further: time, actor, target, application, address and outcome', async () => {
    const page = await search({ type: 'user.authentication.sso', size: '20' });
    const [first = ''] = /<tbody[\s\S]*?<\/tr>/.exec(page.text) ?? [];
    const links = [...first.matchAll(/href="([^"]*log\?[^"]*)"/g)].map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), page.url));
    const added = links.map(({ searchParams }) =>
      [...searchParams].filter(([name, value]) => !(name === 'size' || value === 'user.authentication.sso')),
    );
    const [{ id }] = (await service.api('GET', '/apps?q=Admin+console')).body;
    const named = added.map((one) => one.map(([name, value]) => `${name}=${value.replace(/ \(usr_\w+\)$/, ' (usr)')}`).join(' '));
    const minute = /^since=(\S+:\d\d) until=(\S+:\d\d)$/.exec(named[0] ?? '');
    assert.equal(Date.parse(`${minute?.[2]}Z`) - Date.parse(`${minute?.[1]}Z`), 60_000, named[0]);
    const others = ['', 'actor=admin (usr)', 'target=admin (usr)', `application=Admin console (${id})`, 'q=127.0.0.1', 'outcome=SUCCESS'];
    assert.deepEqual(named.slice(1), others, 'what narrowed the list before stays');
    for (const link of links) assert.ok(rowsOf(await agent.visit(link.pathname + link.search)).length > 0, link.search);

    const ofApplication = await search({ application: `Admin console (${id})`, outcome: 'FAILURE' });
    assert.match(wordsOf(ofApplication), /No matches\./);
    assert.ok(rowsOf(await search({ application: 'admin CON' })).length > 0, 'also by a part of the name');
    const words = await search({ q: 'admin', type: 'user.authentication.sso' });
    const address = new URL(linkTo(words, '127\\.0\\.0\\.1'), page.url);
    assert.equal(address.searchParams.get('q'), 'admin 127.0.0.1');
    const live = await search({ type: 'user.authentication.sso', live: 'true' });
    assert.match(live.text, /live=true&amp;outcome=SUCCESS"/);
  });
});

test('today begins in the time zone of the viewer: of the browser, or without script of the profile, or else of UTC', async (t) => {
  const service = await startService(t);
  const admin = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent } = await enter(service, admin);
  const isToday = async (zone: string) => {
    const { text } = await agent.visit(LOG);
    const [, since = ''] = new RegExp(`<a href="[^"]*since=([^"&]+)">Today \\(${zone}\\)<`).exec(text) ?? assert.fail(`not in ${zone}`);
    const start = new Date(startOfDay(Date.now(), zone)).toISOString();
    assert.equal(decodeURIComponent(since), start.slice(0, 16), zone);
  };
  await isToday('UTC');
  await service.api('POST', `/users/${admin.id}`, { profile: { timezone: 'Asia/Kathmandu' } });
  await isToday('Asia/Kathmandu');
  const person = { zone: 'Asia/Kathmandu' } as ConsoleUser;
  const cookies = [
    ['a=b; gatehouse-zone=America/Argentina/Buenos_Aires; c=d', 'America/Argentina/Buenos_Aires'],
    ['gatehouse-zone=Nowhere', 'Asia/Kathmandu'],
    ['not-gatehouse-zone=UTC', 'Asia/Kathmandu'],
  ] as const;
  for (const [cookie, zone] of cookies) {
    const req = { headers: { cookie } } as IncomingMessage;
    assert.equal(zoneOfViewer({ req, person }), zone, cookie);
  }
});

test('how long events are kept is set, with what is wrong beside the field', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/reports/log/retention');
  const kept = async () => (await service.api('GET', '/settings/audit')).body.retentionDays;
  for (const days of ['0', 'a year']) {
    const wrong = await agent.submit(form, 'console-form', { keep: 'limited', retentionDays: days });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /id="retentionDays-problem"/);
    assert.match(wrong.text, new RegExp(`value="${days}"`), 'what was typed stays');
  }
  assert.equal(await kept(), null);
  const saved = await agent.submit(form, 'console-form', { keep: 'limited', retentionDays: '400' });
  assert.match(wordsOf(saved), /How long events are kept is changed/);
  assert.equal(await kept(), 400);
  await agent.submit(await agent.visit('/admin/reports/log/retention'), 'console-form', { keep: 'forever' });
  assert.equal(await kept(), null);
});

test('an event: its facts with links, what it changed, and what else happened in the same request', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Ada', lastName: '<b>Byron</b>' });
  await service.api('POST', `/users/${user.id}`, { profile: { lastName: 'Lovelace' } });
  const { agent } = await enter(service);
  const page = await agent.visit(await entryOf(service, 'user.account.update_profile'));
  assert.match(wordsOf(page), /Who admin user Target .* From .*127\.0\.0\.1/);
  assert.equal(linkTo(page, user.login), `/admin/users/${user.id}`);
  assert.deepEqual(
    rowsOf(page, 'Changed fields'),
    ['profile.lastName &#60;b&#62;Byron&#60;/b&#62; Lovelace'].map((row) => row.replaceAll('&#60;', '&lt;').replaceAll('&#62;', '&gt;')),
  );
  assert.match(page.text, /<pre id="event-json"[^>]*>[\s\S]*update_profile/);
  assert.doesNotMatch(page.text, /Explain/);
  assert.equal((await agent.visit(`${page.url.pathname}/explain`)).status, 404, 'nothing was decided');

  for (let n = 0; n < 10; n += 1) await service.api('POST', '/authn', { username: user.login, password: 'wrong' });
  const lock = await agent.visit(await entryOf(service, 'user.account.lock'));
  const others = rowsOf(lock, 'Events of the same request');
  assert.equal(others.length, 1);
  assert.match(others[0] ?? '', /user\.authentication\.failure/);

  // Another caller may choose the id of that request for theirs.
  const { uuid, transaction } = (await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING&filter=eventType eq "user.account.lock"'))
    .body[0];
  const headers = { 'content-type': 'application/json', 'x-request-id': transaction.id, 'user-agent': 'another program' };
  const body = JSON.stringify({ username: 'somebody', password: 'wrong' });
  assert.equal(
    (await fetch(`${service.baseUrl}/api/v1/authn`, { method: 'POST', headers, body })).headers.get('x-request-id'),
    transaction.id,
  );
  assert.equal(rowsOf(await agent.visit(`${LOG}/${uuid}`), 'Events of the same request').length, 1);
  for (const none of ['no-uuid', crypto.randomUUID(), '%00']) assert.equal((await agent.visit(`${LOG}/${none}`)).status, 404, none);
});

test('explain: what decided then, with links, and what it would come to today', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const app = await createClient(service);
  await setPolicies(service, 'default', [{ rules: [{ conditions: { scopes: { include: ['openid'] } } }] }]);
  const browser = new UserAgent(service.baseUrl);
  const { body: server } = await service.api('GET', '/authorizationServers/default');
  const [resource] = server.audiences;
  const asked = await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId, scope: 'openid email', resource }));
  assert.equal(answerOf(await browser.signIn(asked, user)).error, 'access_denied');

  const { agent } = await enter(service);
  const list = await agent.visit(`${LOG}?type=app.oauth2.as.authorize`);
  const explained = await agent.visit(linkTo(list, 'Explain'));
  const words = wordsOf(explained);
  assert.match(words, /It failed, .*has no rule that matches this request/);
  assert.match(words, /Rule “Rule 0” of “Policy 0” Skipped: the request is also for scopes/);
  assert.match(words, /Result today .* gets no token .*access_denied/);
  const policy = linkTo(explained, 'Access policy “Policy 0”');
  assert.equal((await agent.visit(policy)).status, 200);
  const simulator = linkTo(explained, 'Open in the simulator');
  assert.equal(new URL(simulator, service.baseUrl).searchParams.get('resources'), resource);
  assert.match(wordsOf(await agent.visit(simulator)), /gets no token/);

  await setPolicies(service, 'default', [{ rules: [{}] }]);
  const later = await agent.visit(explained.url.pathname);
  assert.match(wordsOf(later), /has no rule that matches this request.*Result today .*gets an access token/, 'then, and now');
  const { name } = server;
  assert.equal((await service.api('PUT', '/authorizationServers/default', { name, audiences: ['https://other.example'] })).status, 200);
  const without = wordsOf(await agent.visit(explained.url.pathname));
  assert.match(without, /Result today .*invalid_target/, 'for the audience that was requested');

  await service.api('DELETE', `/users/${user.id}`);
  await service.api('DELETE', `/users/${user.id}`);
  assert.match(
    wordsOf(await agent.visit(explained.url.pathname)),
    /no result for today: the user, the application or the authorization server no longer exists/,
  );

  const failed = await agent.visit(`${await entryOf(service, 'user.session.start')}/explain`);
  assert.match(wordsOf(failed), /by a password.*No second factor was asked for/);
});

test('who sees what: everything for reading, one organization, nothing of the log for its administrator', async (t) => {
  const service = await startService(t);
  const [mine, other] = [await createOrganization(service, 'Mine'), await createOrganization(service, 'Others')];
  await service.api('POST', '/api-tokens', {
    name: 'Of the super administrator',
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const reader = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  assert.match(wordsOf(reader.page), /Statistics .*Sign-ins .*Of the super administrator.*Service status.*Your permissions/);
  assert.doesNotMatch(wordsOf(reader.page), /Next steps/);
  assert.equal((await reader.agent.visit(LOG)).status, 200);

  const { agent, page } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', mine));
  assert.match(wordsOf(page), /Your organizations Mine 0 members.*Your permissions Organization administrator/);
  assert.doesNotMatch(
    page.text,
    new RegExp(
      `Statistics|Why sign-ins failed|Active users|Service status|Next steps|Of the super administrator|System log|Others|${other}`,
    ),
  );
  for (const path of [
    LOG,
    `${LOG}/download`,
    await entryOf(service, 'user.session.start'),
    `${await entryOf(service, 'user.session.start')}/explain`,
  ])
    assert.equal((await agent.visit(path)).status, 403, path);
});
