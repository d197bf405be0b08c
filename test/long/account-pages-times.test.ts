/**
 * Do sign-up, the code by e-mail, the forgotten password and invitations tell who has an account (OWASP ASVS 5.0 V6.3.8, CWE-208)? 300 known and 300 unknown addresses at each
 * page, in turns: the same text, and a time by which nobody can tell them apart.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrfIn, type Door, EACH, tellsApart, timed } from '../support/answer-times.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { dataDirectory, type RunningService, runService } from '../support/process.ts';
import { createOrg } from '../support/tenants.ts';
import { UserAgent } from '../support/user-agent.ts';

/** Each door with a browser of its own for each address, as strangers come. */
function doorsOf({ baseUrl }: RunningService): Record<string, Door> {
  const begin = async (path: string) => {
    const agent = new UserAgent(baseUrl);
    return { agent, csrf: csrfIn((await agent.visit(path)).text) };
  };
  const password = 'a password of somebody new';
  return {
    async 'sign-up'(email) {
      const { agent, csrf } = await begin('/signup');
      return timed(agent, '/signup', { csrf, email, password }, email);
    },
    async 'request of a code'(username) {
      const { agent, csrf } = await begin('/signin');
      return timed(agent, '/signin', { csrf, username, method: 'email' }, username);
    },
    async 'page of the code'(username) {
      const { agent } = await begin('/signin');
      const page = await agent.submit(await agent.visit('/signin'), 'sign-in-form', { username, method: 'email' });
      return timed(agent, '/signin/code', { csrf: csrfIn(page.text), code: '1' }, username);
    },
    async 'forgotten password'(username) {
      const { agent, csrf } = await begin('/forgot-password');
      return timed(agent, '/forgot-password', { csrf, username }, username);
    },
  };
}

/** Invitations, each to an organization of its own: the answer to the one who invites, and what the link in the e-mail shows. */
function invitations(service: RunningService, server: MailServer): Record<string, Door> {
  const invite = async (email: string) => {
    const name = `Acme ${crypto.randomUUID()}`;
    const orgId = await createOrg(service, name);
    const begun = performance.now();
    const { status, body } = await service.api('POST', `/account/org/${orgId}/invitation`, { email });
    return { name, milliseconds: performance.now() - begun, text: JSON.stringify([status, Object.keys(body)]) };
  };
  return {
    'invitation of an address': invite,
    async 'page of an invitation'(email) {
      const { name } = await invite(email);
      const { link } = await server.mail(email, 1, name);
      const agent = new UserAgent(service.baseUrl);
      const begun = performance.now();
      const { status, text } = await agent.visit(link);
      const milliseconds = performance.now() - begun;
      return {
        milliseconds,
        text: `${status} ${text
          .replaceAll(email, 'ADDRESS')
          .replaceAll(name, 'NAME')
          .replace(/[\w-]{43}/g, '')}`,
      };
    },
  };
}

test('300 known and 300 unknown addresses at each page: the same text and time', async (t) => {
  const server = await startMailServer(t);
  const service = await runService(t, { ...server.env, DATA_DIR: dataDirectory(t), RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' });
  await service.api('PUT', '/settings/registration', { enabled: true });
  await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] });
  const addresses: string[] = [];
  for (let n = 0; n < EACH; n += 1) {
    const email = `${crypto.randomUUID()}@example.com`;
    await service.createUser({ login: email, email });
    addresses.push(email);
  }
  const told: string[] = [];
  for (const [name, door] of Object.entries({ ...doorsOf(service), ...invitations(service, server) }))
    told.push(...(await tellsApart(t, name, door, addresses, () => `${crypto.randomUUID()}@example.com`)));
  assert.deepEqual(told, []);
});
