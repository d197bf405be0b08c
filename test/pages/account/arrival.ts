/** A user in his own pages: signed in, in a browser of his own. */
import assert from 'node:assert/strict';
import type { Received } from '../../support/requests.ts';
import type { ServiceCalls } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

export interface Account {
  readonly id: string;
  readonly login: string;
  readonly password: string;
}

/** Comes for a page without a session, signs in, and is led back to it. */
export async function arriveAt(
  service: ServiceCalls,
  path: string,
  user: Account,
  browser = new UserAgent(service.baseUrl),
): Promise<{ browser: UserAgent; page: Page }> {
  const page = await browser.signIn(await browser.visit(path), user);
  assert.equal(page.url.pathname, path, page.text.slice(0, 2000));
  assert.equal(page.status, 200);
  return { browser, page };
}

/** All the user's own pages. */
export const PAGES = ['', '/profile', '/password', '/security', '/sessions', '/permissions', '/requests', '/activity', '/data'].map(
  (path) => `/account${path}`,
);

/** The words of a page, without its markup. */
export const wordsOf = ({ text }: Page): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#34;/g, '"')
    .replace(/\s+/g, ' ');

/** What a form would send, besides what is typed. */
export function fieldsOf(page: Page, formId: string): Record<string, string> {
  const [, content = ''] = new RegExp(`<form[^>]*\\bid="${formId}"[^>]*>([\\s\\S]*?)</form>`).exec(page.text) ?? [];
  const fields: Record<string, string> = {};
  for (const [input] of content.matchAll(/<input[^>]*>/g)) {
    const name = /\bname="([^"]*)"/.exec(input)?.[1];
    if (name !== undefined) fields[name] = /\bvalue="([^"]*)"/.exec(input)?.[1] ?? '';
  }
  return fields;
}

/** Posts a form as a page of this service would. */
export const postForm = (
  browser: UserAgent,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Received> =>
  browser.send(path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { origin: browser.origin, 'sec-fetch-site': 'same-origin', ...headers },
  });

/** An application by its label. @returns its client_id */
export async function createLabelled(service: ServiceCalls, label: string, settings: Record<string, unknown>): Promise<string> {
  const body = { name: 'oidc_client', label, signOnMode: 'OPENID_CONNECT', settings: { oauthClient: settings } };
  const answer = await service.api('POST', '/apps', body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body.id;
}
