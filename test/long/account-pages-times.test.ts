/**
 * Do sign-up, the code by e-mail, the forgotten password and invitations tell who has an account (OWASP ASVS 5.0 V6.3.8, CWE-208)? 300 known and 300 unknown addresses at each
 * page, in turns: the same text, and a time by which nobody can tell them apart. Steps that follow each other are measured in one visit.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrfIn, type Door, EACH, tellsApart, timed } from '../support/answer-times.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { dataDirectory, type RunningService, runService } from '../support/process.ts';
import { createOrg } from '../support/tenants.ts';
import { UserAgent } from '../support/user-agent.ts';

/** More than samples: no address is asked about twice, not even to warm up. */
const ADDRESSES = EACH + 10;
const newAddress = (): string => `${crypto.randomUUID()}@example.com`;

/** Each with a browser of its own for each address, as strangers come. */
function doorsOf({ baseUrl }: RunningService): readonly Door[] {
  const begin = async (path: string) => {
    const agent = new UserAgent(baseUrl);
    return { agent, csrf: csrfIn((await agent.visit(path)).text) };
  };
  const wrongCode = async (agent: UserAgent, csrf: string, address: string) =>
    (await timed(agent, '/signin/code', { csrf, code: '1' }, address)).sample;
  return [
    async (email) => {
      const { agent, csrf } = await begin('/signup');
      const asked = await timed(agent, '/signup', { csrf, email, password: 'a password of somebody new' }, email);
      return { 'sign-up': asked.sample, 'page of its code': await wrongCode(agent, asked.csrf, email) };
    },
    async (username) => {
      const { agent, csrf } = await begin('/signin');
      const asked = await timed(agent, '/signin', { csrf, username, method: 'email' }, username);
      return { 'request of a code': asked.sample, 'page of the code': await wrongCode(agent, asked.csrf, username) };
    },
    async (username) => {
      const { agent, csrf } = await begin('/forgot-password');
      return { 'forgotten password': (await timed(agent, '/forgot-password', { csrf, username }, username)).sample };
    },
  ];
}

const ORGANIZATION = 'Acme of the invitations';

/** The answer to the one who invites; and, once all are on their way, what the link in the e-mail shows. */
async function invitations(service: RunningService, server: MailServer): Promise<readonly [invite: Door, open: Door]> {
  const orgId = await createOrg(service, ORGANIZATION);
  return [
    async (email) => {
      const begun = performance.now();
      const { status, body } = await service.api('POST', `/account/org/${orgId}/invitation`, { email });
      const milliseconds = performance.now() - begun;
      return { 'invitation of an address': { milliseconds, text: JSON.stringify([status, Object.keys(body)]) } };
    },
    async (email) => {
      const { link } = await server.mail(email, 1, ORGANIZATION);
      const agent = new UserAgent(service.baseUrl);
      const begun = performance.now();
      const { status, text } = await agent.visit(link);
      const milliseconds = performance.now() - begun;
      const shown = text.replaceAll(email, 'ADDRESS').replace(/[\w-]{43}/g, '');
      return { 'page of an invitation': { milliseconds, text: `${status} ${shown}` } };
    },
  ];
}

test('300 known and 300 unknown addresses at each page: the same text and time', async (t) => {
  const server = await startMailServer(t);
  const service = await runService(t, { ...server.env, DATA_DIR: dataDirectory(t), RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' });
  await service.api('PUT', '/settings/registration', { enabled: true });
  await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] });
  const known = Array.from({ length: ADDRESSES }, newAddress);
  for (const email of known) await service.createUser({ login: email, email });
  const told: string[] = [];
  for (const door of doorsOf(service)) told.push(...(await tellsApart(t, door, known, newAddress)));
  const [invite, open] = await invitations(service, server);
  const invited: string[] = [];
  const invitee = () => {
    const email = newAddress();
    invited.push(email);
    return email;
  };
  told.push(...(await tellsApart(t, invite, known, invitee)));
  told.push(...(await tellsApart(t, open, known, () => invited.shift() ?? '')));
  assert.deepEqual(told, []);
});
