/** The fields of the console's forms and those of the API: each links to the other's description, and none is missing unless it is named here. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { bodyFields } from '../../../src/api/index.ts';
import { enter } from './administrators.ts';
import { startOnTour } from './tours.ts';

/** Forms that create, change or ask: neither searches nor the actions on a list's rows. */
const FORMS = /<form class="(?:sheet|query)"[\s\S]*?<\/form>|<div class="choosing-foot">[\s\S]*?<\/form>/g;
/** Names of the fields: the boxes of a choice have one together. */
const FIELD = /<(?:input|select|textarea) id="([^"]+)" name="\1"|<fieldset class="boxes[^"]*" id="([^"]+)"/g;
const HELP = /<a class="help" id="([^"]+)-help" href="([^"]+)" target="_blank" aria-label="Help: [^"]+">/g;
const REFERENCE = '/api/v1/docs#';
/** What is done with the selected rows of a list. */
const BULK = ['action', 'scope'];

/** Of users, groups, applications, servers, policies, providers and settings. */
const COMPARED = /^(updateUser|putGroup|putApp|putAuthorizationServer|createAuthorizationServerPolicy(Rule)?|createIdp|putSettings\w+)$/;

/**
 * What pages of their own change, what has one value or must be empty, and what the console does not have (docs/decisions/0016-console.md).
 * Fields that must have Okta's default and change nothing are no gap, e.g. `issuer_mode`: the reference says so.
 */
const API_ONLY: Readonly<Record<string, readonly string[]>> = {
  updateUser: ['credentials.password.hash', 'credentials.password.hook.type'],
  putApp: [
    ...['accessibility.errorRedirectUrl', 'accessibility.loginRedirectUrl'],
    ...['credentials.oauthClient.client_id', 'credentials.oauthClient.client_secret'],
    ...['name', 'settings.implicitAssignment', 'settings.notes', 'settings.oauthClient.idp_initiated_login.default_scope', 'signOnMode'],
  ],
  createIdp: ['id', 'protocol.credentials.client.pkce_required', 'protocol.type', 'type'],
  putSettingsRegistration: ['emailVerification'],
  putSettingsBranding: ['css.version'],
  putAuthorizationServer: ['credentials.signing.use'],
  createAuthorizationServerPolicy: ['priority', 'status', 'type'],
  createAuthorizationServerPolicyRule: ['conditions.authorizationDetails.include', 'priority', 'status', 'type'],
};
/** What the reference says of a field that nothing uses (src/platform/validation/okta-default.ts). */
const IGNORED = /<dt id="([^"]+)">(?:(?!<\/dd>)[\s\S])*Okta&#39;s default; accepted and ignored<\/dd>/g;

const note = (those: Map<string, Set<string>>, operation: string, name: string): void => {
  those.set(operation, (those.get(operation) ?? new Set()).add(name));
};

/** Headings of the page that a link names. */
async function headingsOf(address: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../../../docs/${address.slice('/docs/'.length).split('#')[0]}.md`, import.meta.url), 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\w]+/g, '-'));
}

test('every field of a form links to its description, and every field of the API is in a form or named here', async (t) => {
  const { service, stops } = await startOnTour(t);
  const { agent } = await enter(service);
  const reference = (await agent.visit('/api/v1/docs')).text;
  const anchors = new Set([...reference.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
  const ignored = new Set([...reference.matchAll(IGNORED)].map(([, id = '']) => id));
  const without: string[] = [];
  const linked = new Map<string, Set<string>>();
  for (const path of new Set(stops.map((stop) => `/admin${stop.split('?')[0]}`))) {
    const form = (await agent.visit(path)).text.match(FORMS)?.join('') ?? '';
    const links = new Map([...form.matchAll(HELP)].map(([, name = '', href = '']) => [name, decodeURI(href)]));
    for (const [, name = '', boxes = name] of form.matchAll(FIELD)) {
      if (boxes.endsWith('-q') || BULK.includes(boxes)) continue;
      const href = links.get(boxes);
      if (href === undefined) without.push(`${path}: ${boxes}`);
      else if (href.startsWith(REFERENCE)) {
        const anchor = href.slice(REFERENCE.length);
        assert.ok(anchors.has(anchor), `${path}: ${anchor}`);
        const [, operation = '', field] = /^(\w+)(?:\.(.*))?/.exec(anchor) ?? [];
        if (field !== undefined) note(linked, operation, field);
      } else if (href.includes('#')) assert.ok((await headingsOf(href)).includes(href.split('#')[1] ?? ''), `${path}: ${href}`);
      else await headingsOf(href);
    }
  }
  assert.deepEqual(without, []);
  const sorted = (those: ReadonlyMap<string, Iterable<string>>) =>
    Object.fromEntries(
      [...those].map(([operation, names]) => [operation, [...names].sort()] as const).filter(([, names]) => names.length > 0),
    );
  const compared = [...linked].filter(([operation]) => COMPARED.test(operation));
  const missing = compared.map(([operation, names]) => {
    const fields = bodyFields(operation);
    const isLast = (one: string) => !fields.some((other) => isWithin(other, one));
    const isWithin = (one: string, other: string) => one.startsWith(`${other}.`) || one.startsWith(`${other}[]`);
    const isShown = (one: string) => [...names].some((name) => name === one || isWithin(one, name) || isWithin(name, one));
    return [operation, fields.filter((one) => !isShown(one) && isLast(one) && !ignored.has(`${operation}.${one}`))] as const;
  });
  assert.deepEqual(sorted(new Map(missing)), API_ONLY);
});
