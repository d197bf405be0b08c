/** What a user comes to hold by using the service: a consent, a session, a link to an identity provider. And what the audit log tells of somebody. */
import assert from 'node:assert/strict';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import type { ServiceCalls } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

interface Account {
  readonly id: string;
  readonly login: string;
  readonly password: string;
}

/** The user allows an application a scope at the server `default`, in a browser that stays signed in. */
export async function giveConsent(service: ServiceCalls, user: Account) {
  const scope = `orders:${user.id.slice(-6)}`;
  assert.equal((await service.api('POST', '/authorizationServers/default/scopes', { name: scope, consent: 'REQUIRED' })).status, 201);
  const client = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const url = authorizeUrl(service, 'default', { client_id: client.clientId, scope: `openid ${scope}` });
  const asked = await browser.signIn(await browser.visit(url), user);
  const answer = await browser.submit(asked, 'consent', { decision: 'allow' });
  assert.ok(answer.url.searchParams.has('code'), answer.text);
  const grants = (await service.api('GET', `/users/${user.id}/grants`)).body as { id: string; scopeId: string }[];
  return { browser, client, scope, url, grantId: grants.find(({ scopeId }) => scopeId === scope)?.id ?? assert.fail('no consent') };
}

/** @returns the provider's id */
export async function linkAccount(service: ServiceCalls, userId: string, name = 'Acme'): Promise<string> {
  const credentials = { client: { client_id: 'gatehouse', client_secret: 'known-to-both' } };
  const provider = { name, type: 'OIDC', protocol: { issuer: { url: 'https://idp.example' }, credentials } };
  const { body } = await service.api('POST', '/idps', provider);
  const linked = await service.api('POST', `/idps/${body.id}/users/${userId}`, { externalId: `subject-of-${userId}` });
  assert.equal(linked.status, 200, JSON.stringify(linked.body));
  return body.id;
}

/** The audit events of a type with this target, the oldest first. */
export async function eventsOf(service: ServiceCalls, eventType: string, targetId: string) {
  const filter = `eventType eq "${eventType}" and target.id eq "${targetId}"`;
  const { status, body } = await service.api('GET', `/logs?filter=${encodeURIComponent(filter)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as {
    actor: { id: string; displayName: string };
    outcome: { result: string; reason?: string };
    debugContext: { before?: unknown; after?: unknown };
  }[];
}

/** A password that the policy has nothing against. */
export const GOOD = 'a-password-that-nobody-guesses';

/** The link to choose a password that a page of the console shows. */
export const linkOn = (page: Page): string =>
  /id="fact-\d+-\d+">(http[^<]*\/choose-password\/[^<]*)</.exec(page.text)?.[1] ?? assert.fail(page.text);

/** Can somebody sign in so? */
export async function canSignIn(service: ServiceCalls, user: { login: string; password: string }): Promise<boolean> {
  const agent = new UserAgent(service.baseUrl);
  return !/id="sign-in-form"/.test((await agent.signIn(await agent.visit('/signin'), user)).text);
}
