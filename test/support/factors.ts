/** Authenticator apps in tests: codes as an app shows them, and users who have set one up on the page. */
import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import { answerOf, authorizeUrl, createClient } from '../protocol/servers/relying-party.ts';
import type { ServiceCalls } from './service.ts';
import { type Page, UserAgent } from './user-agent.ts';

export const ONE_FACTOR = 'urn:okta:loa:1fa:any';
export const TWO_FACTORS = 'urn:okta:loa:2fa:any';

/** @param ahead steps of 30 seconds: the next code is accepted too */
export const codeOf = (secret: string, ahead = 0): string =>
  new TOTP({ algorithm: 'SHA1', digits: 6, period: 30, secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + ahead * 30_000,
  });

/** A code that is none of now. */
export function wrongCode(secret: string): string {
  const right = new Set([-2, -1, 0, 1, 2].map((ahead) => codeOf(secret, ahead)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.has(code)) ?? '';
}

/** The secret in text on the page that sets an app up. */
export const secretOn = (page: Page): string => /id="totp-secret">([^<]+)</.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';

/** The recovery codes that a page shows. */
export const recoveryCodesOn = (page: Page): string[] =>
  [...(/<ul[^>]*id="recovery-codes">([\s\S]*?)<\/ul>/.exec(page.text)?.[1]?.matchAll(/<code>([^<]+)<\/code>/g) ?? [])].map(
    ([, code = '']) => code,
  );

export interface Enrolled {
  readonly id: string;
  readonly login: string;
  readonly password: string;
  readonly secret: string;
  /** That the app was confirmed by. */
  readonly usedCode: string;
  readonly recoveryCodes: readonly string[];
}

/** A user who has set up an app: the code of now is used up by that, the next one is not. */
export async function enrolledUser(service: ServiceCalls, profile?: Record<string, unknown>): Promise<Enrolled> {
  const client = await createClient(service);
  const user = await service.createUser(profile);
  const browser = new UserAgent(service.baseUrl);
  const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, acr_values: TWO_FACTORS });
  const page = await browser.signIn(await browser.visit(url), user);
  const secret = secretOn(page);
  const usedCode = codeOf(secret);
  const shown = await browser.submit(page, 'enroll-form', { passCode: usedCode });
  const recoveryCodes = recoveryCodesOn(shown);
  assert.equal(recoveryCodes.length, 10, shown.text);
  assert.ok(answerOf(await browser.submit(shown, 'enrolled-form')).code);
  return { ...user, secret, usedCode, recoveryCodes };
}

/** Signs a user who has just enrolled in, in a browser that they trust from now on: uses up the next code. The policy must allow it. */
export async function trustedBrowserOf(
  service: ServiceCalls,
  user: Enrolled,
  browser = new UserAgent(service.baseUrl),
): Promise<UserAgent> {
  const { clientId } = await createClient(service);
  const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId })), user);
  const done = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1), trustBrowser: 'true' });
  assert.ok(answerOf(done).code, done.text);
  return browser;
}
