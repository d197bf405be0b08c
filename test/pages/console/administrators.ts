/** Administrators of each kind, and how tests go through the console, most of them without JavaScript. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { RoleType } from '../../../src/features/administrators/administration.policy.ts';
import { ADMIN, type ServiceCalls } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

interface Account {
  readonly login: string;
  readonly password: string;
}

/** The first administrator. */
export const SUPER: Account = { login: ADMIN.username, password: ADMIN.password };

/** A user with a role. */
export async function createAdministrator(service: ServiceCalls, type: RoleType, orgId?: string, profile: Record<string, unknown> = {}) {
  const user = await service.createUser(profile);
  const { status, body } = await service.api('POST', `/users/${user.id}/roles`, { type, ...(orgId && { orgId }) });
  assert.ok(status === 200 || status === 201, JSON.stringify(body));
  return { ...user, roleId: String(body.id) };
}

export async function createOrganization(service: ServiceCalls, name: string): Promise<string> {
  const { body } = await service.api('POST', '/account/org', { orgName: name });
  assert.match(body.orgId, /^org_/, JSON.stringify(body));
  return body.orgId;
}

/** Opens the console in a browser of its own and signs in. */
export async function enter(service: ServiceCalls, user: Account = SUPER, path = '/admin'): Promise<{ agent: UserAgent; page: Page }> {
  const agent = new UserAgent(service.baseUrl);
  const page = await agent.signIn(await agent.visit(path), user);
  return { agent, page };
}

/** The same in Chromium, as the first administrator. @param path of the page that is opened then, below `/admin` */
export async function enterInBrowser(browser: Browser, service: ServiceCalls, path = '', options?: Parameters<typeof openWindow>[1]) {
  const window = await openWindow(browser, options);
  const page = await window.open();
  await page.goto(`${service.baseUrl}/admin`);
  await signIn(page, SUPER);
  await page.waitForURL(`${service.baseUrl}/admin`);
  if (path !== '') await page.goto(`${service.baseUrl}/admin${path}`);
  return { window, page };
}

/** Text between tags, without them. */
export const wordsOf = ({ text }: Page): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"');

/** The value of a form's field, hidden or not. */
export const typedIn = ({ text }: Page, name: string): string | undefined =>
  (new RegExp(`<input[^>]*name="${name}"[^>]*value="([^"]*)"`).exec(text) ??
    new RegExp(`<textarea[^>]*name="${name}"[^>]*>\n?([^<]*)<`).exec(text))?.[1];

/** Creates a token through the console. @returns the page that tells it */
export async function createToken(agent: UserAgent, name: string, expires = '90'): Promise<{ page: Page; token: string }> {
  const page = await agent.submit(await agent.visit('/admin/api/tokens/new'), 'console-form', { name, expires });
  const [, token = ''] = /id="token-value"[^>]*value="([^"]*)"/.exec(page.text) ?? [];
  return { page, token };
}
