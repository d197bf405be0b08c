/** Codes to phones as a second factor, by a webhook that is a real receiver: set-up, sign-in, what it is asked, and the limits against toll fraud. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { arriveAt } from '../../pages/account/arrival.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { recoveryCodesOn, TWO_FACTORS } from '../../support/factors.ts';
import { inlineReceiver } from '../../support/inline-hooks.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const SECURITY = '/account/security';

async function start(t: TestContext, { mostPerDay = 500, env = {} }: { mostPerDay?: number; env?: Record<string, string> } = {}) {
  const receiver = await inlineReceiver(t);
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', ...env } });
  receiver.secret = `whsec_${randomBytes(32).toString('base64')}`;
  const settings = { url: receiver.uri, secret: receiver.secret, prefixes: ['+49'], mostPerDay };
  const set = await service.api('PUT', '/settings/telephony', settings);
  assert.equal(set.status, 200, JSON.stringify(set.body));
  await service.api('PUT', '/settings/sign-in', { messageFactors: ['sms', 'call'] });
  const client = await createClient(service);
  const url = authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'login' });
  const asked = () => receiver.asked.at(-1)?.event.data.messageProfile;
  const claimsOf = async (page: Page) => {
    const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK };
    const { body } = await post(service, 'default', 'token', client, form);
    const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
    return [claims.amr, claims.acr];
  };
  const enrolled = async (type: 'sms' | 'call', phoneNumber: string) => {
    const user = await service.createUser();
    const profile = { phoneNumber };
    const { status, body } = await service.api('POST', `/users/${user.id}/factors?activate=true`, {
      factorType: type,
      provider: 'OKTA',
      profile,
    });
    assert.equal(status, 200, JSON.stringify(body));
    return user;
  };
  const signIn = async (user: { login: string; password: string }, browser = new UserAgent(service.baseUrl)) => ({
    browser,
    page: await browser.signIn(await browser.visit(url), user),
  });
  const reasons = async () => {
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.sms.send_factor_verify_message"')}`);
    return body.map(({ outcome }: { outcome: { result: string; reason?: string } }) => outcome.reason ?? outcome.result);
  };
  return { service, receiver, settings, asked, claimsOf, enrolled, signIn, reasons };
}

test('codes to phones as a second factor', async (t) => {
  const { service, receiver, asked, claimsOf, enrolled, signIn, reasons } = await start(t);

  await t.test('are set up with a number on the account page, sent by the signed webhook, and prove two factors', async () => {
    const user = await service.createUser({ firstName: 'Ada', preferredLanguage: 'de' });
    const { browser, page } = await arriveAt(service, SECURITY, user);
    for (const phoneNumber of ['030 901820', '+1 555 0100', 'no number'])
      assert.match((await browser.submit(page, 'add-sms-form', { phoneNumber })).text, /id="notice"/);
    assert.equal(receiver.asked.length, 0, 'neither without a country code nor to another country');
    const sent = await browser.submit(page, 'add-sms-form', { phoneNumber: '0049 (30) 901-820' });
    assert.match(sent.text, /••• 820/);
    assert.doesNotMatch(sent.text, /901820/);
    const { phoneNumber, deliveryChannel, otpCode, msgTemplate, locale } = asked();
    assert.deepEqual([phoneNumber, deliveryChannel, locale], ['+4930901820', 'SMS', 'de']);
    assert.match(msgTemplate, new RegExp(`^${otpCode} ist Ihr Code`));
    assert.equal(receiver.asked[0]?.event.eventType, 'com.okta.telephony.provider');
    const again = await browser.submit(sent, 'messages');
    assert.equal(asked().phoneNumber, '+4930901820', 'the number need not be typed again');
    const shown = await browser.submit(again, 'first-code-form', { passCode: asked().otpCode });
    assert.equal(recoveryCodesOn(shown).length, 10, shown.text);

    const { body } = await service.api('GET', `/users/${user.id}/factors`);
    assert.deepEqual([body[0].factorType, body[0].provider, body[0].profile], ['sms', 'OKTA', { phoneNumber: '••• 820' }]);
    const rows = await onServer(service.database.url, async (sql) =>
      JSON.stringify([(await sql.query('SELECT * FROM message_factors')).rows, (await sql.query('SELECT * FROM email_codes')).rows]),
    );
    assert.doesNotMatch(rows, /901820/, 'the number is stored sealed');

    const at = await signIn(user);
    const waiting = await at.browser.submit(at.page, 'send-sms-form');
    const done = await at.browser.submit(waiting, 'message-form', { passCode: asked().otpCode });
    assert.deepEqual(await claimsOf(done), [['pwd', 'sms', 'mfa'], TWO_FACTORS]);
  });

  await t.test('by a call: amr tel', async () => {
    const user = await enrolled('call', '+4930901821');
    const { browser, page } = await signIn(user);
    const waiting = await browser.submit(page, 'send-call-form');
    assert.equal(asked().deliveryChannel, 'VOICE CALL');
    const done = await browser.submit(waiting, 'message-form', { passCode: asked().otpCode });
    assert.deepEqual(await claimsOf(done), [['pwd', 'tel', 'mfa'], TWO_FACTORS]);
  });

  await t.test('a webhook that refuses, fails or answers nonsense: the page says so, and its code is right nowhere', async () => {
    const user = await enrolled('sms', '+4930901822');
    const { browser, page } = await signIn(user);
    const refusals: readonly object[] = [
      { error: { errorSummary: 'no credit' } },
      { commands: [{ type: 'com.okta.telephony.action', value: [{ status: 'FAILED' }] }] },
      { commands: [{ type: 'something.else', value: [] }] },
    ];
    for (const answer of refusals) {
      receiver.answers(answer);
      const refused = await browser.submit(page, 'send-sms-form');
      assert.equal(refused.status, 400);
      assert.match(refused.text, /href="#messages">We could not send a code/);
      assert.doesNotMatch(refused.text, /id="message-form"/);
    }
    receiver.answers((res) => res.writeHead(500).end());
    assert.equal((await browser.submit(page, 'send-sms-form')).status, 400);
    assert.equal((await reasons()).filter((reason: string) => reason === 'TELEPHONY_FAILED').length, 4);
    const codes = await onServer(
      service.database.url,
      async (sql) => (await sql.query(`SELECT * FROM email_codes WHERE user_id = '${user.id}'`)).rows,
    );
    assert.equal(codes.length, 0);
    receiver.answers({ commands: [{ type: 'com.okta.telephony.action', value: [{ status: 'SUCCESSFUL', provider: 'ACME' }] }] });
    assert.match((await browser.submit(page, 'send-sms-form')).text, /id="message-form"/);
    receiver.answers((res) => res.writeHead(204).end());
  });

  await t.test('settings: what is wrong is named; the secret never leaves, and another host needs it again', async () => {
    const put = (body: Record<string, unknown>) => service.api('PUT', '/settings/telephony', body);
    const held = (await service.api('GET', '/settings/telephony')).body;
    assert.deepEqual(Object.keys(held).sort(), ['mostPerDay', 'prefixes', 'secretSet', 'url']);
    const other = await put({ url: 'https://attacker.example/sms', prefixes: ['+49'] });
    assert.match(JSON.stringify(other.body.errorCauses), /secret: must be entered again/);
    assert.match(JSON.stringify((await put({ url: receiver.uri })).body.errorCauses), /prefixes: must contain at least one/);
    assert.match(JSON.stringify((await put({ url: receiver.uri, prefixes: ['49'] })).body.errorCauses), /prefixes/);
    assert.equal((await put({ url: receiver.uri, prefixes: ['+49', '+43'] })).body.secretSet, true);
    const tried = await service.api('POST', '/settings/telephony/test', { phoneNumber: '+49 30 901829' });
    assert.deepEqual([tried.body.outcome, tried.body.status], ['SENT', 204]);
    assert.equal(asked().otpCode, '00000000');
    assert.equal((await service.api('POST', '/settings/telephony/test', { phoneNumber: '+15550100' })).body.outcome, 'NUMBER_NOT_ALLOWED');
    const log = JSON.stringify((await service.api('GET', '/logs?limit=200')).body);
    assert.doesNotMatch(log, /901829|901820|whsec_/);
    assert.match(log, /••• 829/);
  });
});

test('five messages an hour to a number, and no more a day than the service may', async (t) => {
  const { receiver, enrolled, signIn, reasons } = await start(t, { mostPerDay: 7, env: { RATE_LIMITS: 'on' } });
  const [one, two] = [await enrolled('sms', '+4930901823'), await enrolled('sms', '+4930901823')];
  for (const [user, times] of [
    [one, 3],
    [two, 2],
  ] as const) {
    const { browser, page } = await signIn(user);
    let sent = page;
    for (let time = 0; time < times; time += 1) sent = await browser.submit(sent, 'send-sms-form');
    assert.match(sent.text, /id="message-form"/);
  }
  const again = await signIn(two);
  const refused = await again.browser.submit(again.page, 'send-sms-form');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /We have sent too many codes/);
  assert.equal(receiver.asked.length, 5, 'two accounts share the limit of their number');
  for (const last of ['4', '5', '6']) {
    const { browser, page } = await signIn(await enrolled('sms', `+493090183${last}`));
    await browser.submit(page, 'send-sms-form');
  }
  assert.equal(receiver.asked.length, 7, 'the day is over');
  assert.equal((await reasons()).filter((reason: string) => reason === 'TOO_MANY_REQUESTS').length, 2);
});
