/** `settings/texts`: the operator's words on the pages, in their language alone, escaped; what users decide by keeps its variables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { startedDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';

const problems = (body: { errorCauses: { errorSummary: string }[] }) => body.errorCauses.map(({ errorSummary }) => errorSummary).join('; ');
const signIn = async (service: Service, lang: string) => (await fetch(`${service.baseUrl}/signin?language=${lang}`)).text();

test('a changed text is on the page of its language at once, escaped, in every process, until it is reset', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const beside = { database, secretKey: STARTED.SECRET_KEY };
  const service = await startService(t, { beside });
  const second = await startService(t, { beside });
  assert.match(await signIn(second, 'en'), />Sign in</);
  const { status, body } = await service.api('PUT', '/settings/texts/en/sign-in.submit', { text: 'Let me <b>in</b> & out' });
  assert.deepEqual([status, body.customized, body.default], [200, true, 'Sign in']);
  assert.match(await signIn(service, 'en'), /Let me &lt;b&gt;in&lt;\/b&gt; &amp; out/);
  assert.doesNotMatch(await signIn(service, 'de'), /Let me/);
  await eventually(async () => /Let me &lt;b&gt;/.test(await signIn(second, 'en')), 'the other process has it');
  assert.equal((await service.api('DELETE', '/settings/texts/en/sign-in.submit')).status, 204);
  assert.doesNotMatch(await signIn(service, 'en'), /Let me/);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.settings.update"')}`);
  const [first, last] = events as { target: { id: string }[]; debugContext: { after: object } }[];
  assert.deepEqual(
    [last?.target[0]?.id, first?.debugContext.after],
    ['texts/en/sign-in.submit', { 'sign-in.submit': 'Let me <b>in</b> & out' }],
  );
});

test('what is not the operator’s, or would mislead, is refused', async (t) => {
  const service = await startService(t);
  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['en/consent.title', { text: 'Go on?' }, /text: must contain \{application\}/],
    ['en/sign-in.submit', { text: 'Go, {login}' }, /text: must not use the variable \{login\}: this text has no variables/],
    ['en/sign-in.submit', { text: 'two\nlines' }, /text: must not contain control characters/],
    [
      'en/sign-in.submit',
      { text: 'turned \u202e around' },
      /text: must not contain line breaks or characters that change the text direction/,
    ],
    ['en/sign-in.submit', { text: 'x'.repeat(1001) }, /text: /],
    ['en/sign-in.submit', { text: '  ' }, /text: /],
  ];
  for (const [path, body, wanted] of refused) {
    const answer = await service.api('PUT', `/settings/texts/${path}`, body);
    assert.equal(answer.status, 400, path);
    assert.match(problems(answer.body), wanted);
  }
  for (const path of [
    'en/failure.not_found',
    'en/mail.invitation.subject',
    'en/scope.email.name',
    'fr/sign-in.submit',
    'en/toString',
    'en/inbox.title',
  ])
    assert.equal((await service.api('PUT', `/settings/texts/${path}`, { text: 'x' })).status, 404, path);
});

test('texts are found by words, language and state, and changed in the console', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const found = await agent.visit('/admin/settings/texts?q=forgot+password&language=en');
  assert.match(wordsOf(found), /Forgot your password\?.*Forgotten password/);
  const at = '/admin/settings/texts/en/forgot.link';
  const saved = await agent.submit(await agent.visit(at), 'console-form', { text: 'Lost your password?' });
  assert.match(wordsOf(saved), /The text is changed/);
  assert.match(await signIn(service, 'en'), /Lost your password\?/);
  assert.match(wordsOf(await agent.visit('/admin/settings/texts?changed=true&language=all')), /1 text .*Lost your password\?/);
  const wrong = await agent.submit(await agent.visit(at), 'console-form', { text: 'Lost, {name}?' });
  assert.match(wordsOf(wrong), /Text: must not use the variable \{name\}/);
  await agent.submit(await agent.visit(at), 'console-form', { step: 'reset' });
  assert.match(await signIn(service, 'en'), /Forgot your password\?/);
});
