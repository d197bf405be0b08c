/** The fields of the console's forms and those of the API: each links to the other's description, and none is missing unless it is named here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyFields } from '../../../src/api/index.ts';
import { operationOf } from '../../../src/pages/console/field-help.ts';
import { enter } from './administrators.ts';
import { startOnTour } from './tours.ts';

/** Names of the fields: the boxes of a choice have one together. */
const FIELD = /<(?:input|select|textarea) id="([^"]+)" name="\1"|<fieldset class="boxes[^"]*" id="([^"]+)"/g;
const HELP = /<a class="help" id="([^"]+)-help" href="\/api\/v1\/docs#([^"]+)" target="_blank" aria-label="Help: [^"]+">/g;

/** Choices that open other fields, what the address of the operation says, and what the console computes. */
const CONSOLE_ONLY: Readonly<Record<string, readonly string[]>> = {
  createApp: ['refresh'],
  putApp: ['claims', 'providers'],
  putOrgIdp: ['idpId'],
  createUser: ['way'],
  updateUser: ['expire'],
  updateIdpUser: ['login'],
  putSettingsSignIn: ['place'],
  createAuthorizationServerClaim: ['valueFormat'],
  createAuthorizationServerPolicy: ['for'],
  putAuthorizationServerPolicy: ['for'],
  createAuthorizationServerPolicyRule: ['actorsFor', 'grants', 'scopesFor'],
  putSettingsAudit: ['keep'],
};

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

test('every field of a form links to its description in the API, and every field of the API is in a form or named here', async (t) => {
  const { service, stops } = await startOnTour(t);
  const { agent } = await enter(service);
  const reference = (await agent.visit('/api/v1/docs')).text;
  const anchors = new Set([...reference.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
  const ignored = new Set([...reference.matchAll(IGNORED)].map(([, id = '']) => id));
  const without = new Map<string, Set<string>>();
  const linked = new Map<string, Set<string>>();
  for (const path of new Set(stops.map((stop) => `/admin${stop.split('?')[0]}`))) {
    const operation = operationOf(path);
    if (operation === undefined) continue;
    const { text } = await agent.visit(path);
    const [, form = ''] = /<form class="sheet" id="console-form"([\s\S]*?)<\/form>/.exec(text) ?? [];
    const links = new Map([...form.matchAll(HELP)].map(([, name = '', anchor = '']) => [name, decodeURI(anchor)]));
    for (const [, name = '', boxes = name] of form.matchAll(FIELD)) {
      if (boxes.endsWith('-q')) continue;
      const anchor = links.get(boxes);
      if (anchor === undefined) note(without, operation, boxes);
      else {
        assert.ok(anchors.has(anchor), `${path}: ${anchor}`);
        note(linked, operation, anchor.slice(operation.length + 1));
      }
    }
  }
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
  assert.deepEqual(sorted(without), CONSOLE_ONLY);
  assert.deepEqual(sorted(new Map(missing)), API_ONLY);
});
