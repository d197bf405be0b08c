/** `settings/mail-templates`: an operator's words in real e-mails, in each language; what misleads or breaks a mail is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';

const AT = '/settings/mail-templates/password-reset';
const problems = (body: { errorCauses: { errorSummary: string }[] }) => body.errorCauses.map(({ errorSummary }) => errorSummary).join('; ');
const reset = ({ api }: Service, id: string) => api('POST', `/users/${id}/lifecycle/reset_password`);

test('the next e-mail has the operator’s words in its language, escaped; the others have the original', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const body = {
    subject: 'Neues Passwort für {service}',
    heading: 'Hallo <b>{login}</b>',
    introduction: 'Erster Absatz.\n\nZweiter: {link}\nmit Zeile',
    button: 'Los & weiter',
    closing: 'Schluss',
  };
  const { status, body: saved } = await service.api('PUT', `${AT}/de`, body);
  assert.deepEqual([status, saved.customized, saved.subject, saved.id], [200, true, body.subject, 'password-reset/de']);
  assert.deepEqual(saved.variables, ['service', 'login', 'link']);
  const german = await service.createUser({ email: 'de@example.com', preferredLanguage: 'de' });
  const english = await service.createUser({ email: 'en@example.com', preferredLanguage: 'en' });
  await reset(service, german.id);
  await reset(service, english.id);
  const mail = await server.mail('de@example.com');
  assert.equal(mail.subject, 'Neues Passwort für Gatehouse');
  assert.ok(mail.html.includes(`Hallo &lt;b&gt;${german.login}&lt;/b&gt;`));
  assert.ok(mail.html.includes('<p>Erster Absatz.</p>') && mail.html.includes('Los &amp; weiter</a>'));
  assert.match(mail.text, /Erster Absatz\.\n\nZweiter: http\S+\/choose-password\/\S+\nmit Zeile\n\nLos & weiter:\nhttp/);
  assert.equal((await server.mail('en@example.com')).subject, 'Choose a new password for Gatehouse');

  assert.equal((await service.api('DELETE', `${AT}/de`)).status, 204);
  await reset(service, german.id);
  assert.notEqual((await server.mail('de@example.com', 2)).subject, 'Neues Passwort für Gatehouse');
  assert.equal((await service.api('GET', `${AT}/de`)).body.customized, false);
});

test('what a template cannot be is refused with the field and what to do', async (t) => {
  const service = await startService(t);
  const refused: readonly (readonly [string, object, RegExp])[] = [
    [AT, { subject: 'Hello {name}' }, /subject: must not use the variable \{name\}: use \{service\}, \{login\}/],
    [AT, { subject: 'Secret {link}' }, /subject: must not use the variable \{link\}/],
    [AT, { subject: 'One\r\nBcc: x@evil.example' }, /subject: must not contain control characters/],
    [AT, { subject: '' }, /subject: /],
    [AT, { introduction: `${'x'.repeat(4001)}` }, /introduction: /],
    [AT, { introduction: 'turned \u202e around' }, /introduction: must not contain control characters/],
    [AT, { closing: '{provider}' }, /closing: must not use the variable \{provider\}/],
    ['/settings/mail-templates/email-verification', { introduction: 'Confirm it.' }, /introduction: must contain \{address\}/],
    ['/settings/mail-templates/test', { button: 'Go' }, /button/],
  ];
  for (const [path, body, wanted] of refused) {
    const answer = await service.api('PUT', `${path}/en`, body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(problems(answer.body), wanted);
  }
  for (const path of [`${AT}/fr`, '/settings/mail-templates/unknown/en', '/settings/mail-templates/__proto__/en'])
    assert.equal((await service.api('PUT', path, { subject: 'x' })).status, 404, path);
});

test('the list has every kind in every language, in pages; changed ones can be listed alone', async (t) => {
  const service = await startService(t);
  await service.api('PUT', `${AT}/es`, { button: 'Adelante' });
  const { body: first, headers } = await service.api('GET', '/settings/mail-templates?limit=200');
  assert.equal(first.length % 4, 0);
  assert.ok(first.length >= 64 && headers.get('link') === null);
  const { body: changed } = await service.api('GET', '/settings/mail-templates?customized=true');
  assert.deepEqual(
    changed.map(({ id, button }: { id: string; button: string }) => [id, button]),
    [['password-reset/es', 'Adelante']],
  );
});

test('the brand is in every e-mail: name, logo, colours in light and dark, links; without one, the product’s colours', async (t) => {
  const service = await startService(t);
  const preview = async () => (await service.api('POST', `${AT}/de/preview`, {})).body;
  const plain = await preview();
  assert.match(plain.html, /\.action \{[^}]*background: #0f5c5c; color: #ffffff;/);
  assert.doesNotMatch(plain.html, /#1f4fb5|<img/);
  const brand = {
    name: 'Acme',
    logoUrl: 'https://cdn.example/logo.png',
    primaryColorHex: '#7a1f5c',
    privacyUrl: 'https://example.com/privacy',
    footerLinks: [{ url: 'https://example.com/imprint', labels: { en: 'Imprint', de: 'Impressum' } }],
  };
  assert.equal((await service.api('PUT', '/settings/branding', brand)).status, 200);
  const { html, text } = await preview();
  assert.match(html, /\.action \{[^}]*background: #7a1f5c; color: #ffffff;/);
  assert.match(html, /prefers-color-scheme: dark[\s\S]*\.action \{ background: #(?!7a1f5c)[0-9a-f]{6}; color: #06201d; \}/);
  assert.ok(html.includes('<img src="https://cdn.example/logo.png" alt="" height="28">'));
  assert.ok(html.includes('<a href="https://example.com/imprint">Impressum</a>'));
  assert.ok(text.includes('Impressum: https://example.com/imprint') && text.includes('https://example.com/privacy'));
  const page = await (await fetch(`${service.baseUrl}/signin?language=de`)).text();
  assert.match(page, /<a href="https:\/\/example\.com\/imprint" rel="noreferrer">Impressum<\/a>/);
  const spanish = await (await fetch(`${service.baseUrl}/signin?language=es`)).text();
  assert.match(spanish, />Imprint<\/a>/);
});

test('in the console: change, preview without saving, test to oneself, reset; all without JavaScript', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await onServer(service.database.url, (sql) => sql.query("UPDATE users SET email = 'admin@example.com' WHERE login = 'admin'"));
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit('/admin/settings/mail/templates')), /Invitation Original Original Original Original/);
  const at = '/admin/settings/mail/templates/invitation/en';
  const refused = await agent.submit(await agent.visit(at), 'console-form', { subject: 'Hi {name}' });
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /Subject: must not use the variable \{name\}/);
  const shown = await agent.submit(await agent.visit(at), 'console-form', { heading: 'Good to see you', step: 'preview' });
  assert.match(wordsOf(shown), /Nothing is saved yet.*Good to see you.*Plain text/);
  assert.equal((await service.api('GET', '/settings/mail-templates/invitation/en')).body.customized, false);
  const saved = await agent.submit(shown, 'console-form');
  assert.match(wordsOf(saved), /The template is changed/);
  assert.equal((await service.api('GET', '/settings/mail-templates/invitation/en')).body.heading, 'Good to see you');
  const sent = await agent.submit(await agent.visit(`${at}/test`), 'console-form');
  assert.match(wordsOf(sent), /The mail server accepted the test e-mail/);
  assert.match((await server.mail('admin@example.com')).text, /^Good to see you/);
  await agent.submit(await agent.visit(`${at}/reset`), 'console-form');
  assert.equal((await service.api('GET', '/settings/mail-templates/invitation/en')).body.customized, false);
});
