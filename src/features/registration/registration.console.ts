/** Authorization server → Registration: settings of dynamic registration, and initial access tokens. A new token is shown once. */

import { z } from 'zod';
import type { Content } from '../../pages/console/detail-page.ts';
import { type Field, formPage, type Option, readFields } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Drawn } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import { crumbsBelow, pageBelowSettings, type ServerSubject, serverSubject } from '../authorization-servers/server-page.console.ts';
import type { RegistrationMode } from './registration.policy.ts';
import type { RegistrationToken } from './registration-tokens.resource.ts';
import {
  createRegistrationToken,
  DEFAULT_DAYS,
  getRegistrationToken,
  listRegistrationTokens,
  registrationTokenEnd,
  registrationTokenName,
  revokeRegistrationToken,
} from './registration-tokens.service.ts';

const LEADS: Readonly<Record<RegistrationMode, string>> = {
  OFF: 'Clients cannot register themselves here. Change it under Settings.',
  TOKEN: 'Clients register themselves with an initial access token (RFC 7591).',
  OPEN: 'Every client can register itself (RFC 7591). Users are always asked for consent.',
};

const homeOf = ({ home }: ServerSubject): string => `${home}/registration`;
const crumbsOf = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Registration', href: homeOf(subject) });
const endpointOf = ({ services }: ConsoleRequest, { server }: ServerSubject): string =>
  `${issuerOf(services.config.baseUrl, server.id)}/register`;

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  { label: 'For', by: 'singleUse', descending: true },
  { label: 'Registrations', by: 'uses', descending: true },
  { label: 'Created', by: 'created', descending: true },
  { label: 'Expires', by: 'expiresAt', descending: true },
];

const list: ConsolePage = {
  path: '/api/servers/:serverId/registration',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { server, isChangeable } = subject;
    const home = homeOf(subject);
    const { items, total } = await listRegistrationTokens(visit.services, server.id, pageIn(visit.query, COLUMNS));
    return pageBelowSettings(subject, 'Registration', {
      lead: LEADS[server.registration.mode],
      actions: isChangeable ? [{ label: 'Create token', href: `${home}/new`, main: true }] : [],
      parts: [
        {
          kind: 'facts',
          title: 'Addresses',
          facts: [
            { label: 'Registration endpoint', value: endpointOf(visit, subject), copy: true },
            {
              label: 'Registered clients',
              value: { text: phrase('Show them in the list of applications'), href: '/admin/applications?origin=REGISTERED' },
            },
          ],
        },
        {
          kind: 'table',
          title: 'Initial access tokens',
          name: 'Initial access tokens',
          rows: items.map((token) => ({
            cells: [
              token.name,
              phrase(token.singleUse ? 'One registration' : 'Many registrations'),
              String(token.uses),
              { moment: momentOf(token.created) },
              expiryOf(token),
            ],
            actions: isChangeable ? [{ label: 'Revoke', href: `${home}/${token.id}/revoke` }] : [],
          })),
          empty: 'There is no initial access token yet. Create one, and give it to the developer of the client.',
          ...paged(home, visit.query, COLUMNS, { total }, 'token'),
        },
      ],
    });
  },
};

function expiryOf({ expiresAt, singleUse, uses }: RegistrationToken): Content {
  if (singleUse && uses > 0) return [{ text: 'used', tone: 'plain' }];
  return expiresAt === null ? [{ text: 'Never', tone: 'warning' }] : { moment: momentOf(expiresAt) };
}

const EXPIRIES: readonly Option[] = [
  { value: '1', label: 'In one day' },
  { value: '7', label: 'In 7 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'never', label: 'Never' },
];

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name', hint: 'The developer or system that uses the token, e.g. “Partner portal”.', required: true },
  {
    name: 'use',
    label: 'For',
    kind: 'radios',
    value: 'once',
    options: [
      { value: 'once', label: 'One registration', hint: 'Used up by it.' },
      { value: 'often', label: 'Many registrations', hint: 'For a program that registers several clients.' },
    ],
    alias: 'singleUse',
  },
  { name: 'expires', label: 'Expires', options: EXPIRIES, value: String(DEFAULT_DAYS), alias: 'expiresAt' },
];

const newToken = z.object({
  name: registrationTokenName,
  use: z.enum(['once', 'often']),
  expires: z.enum(['1', '7', '90', 'never']),
});

/** Result of the form, stored for repeated submissions. */
interface ShownToken {
  readonly name: string;
  readonly value: string;
  /** ISO 8601; null: never. */
  readonly expires: string | null;
}

const create: ConsolePage = {
  path: '/api/servers/:serverId/registration/new',
  needsFreshSignIn: true,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const title = 'Create initial access token';
    return formPage(
      { title, crumbs: crumbsOf(subject), fields: FIELDS, hidden: formKey(), submit: 'Create token', cancel: homeOf(subject) },
      typed,
    );
  },
  async receive(visit, form) {
    const subject = await serverSubject(visit);
    const wanted = readFields(newToken, form);
    const result = await submitOnce(visit, form, [homeOf(subject), wanted], async (services): Promise<ShownToken> => {
      const expiresAt = wanted.expires === 'never' ? null : registrationTokenEnd(Number(wanted.expires));
      const input = { name: wanted.name, singleUse: wanted.use === 'once', expiresAt };
      const { token, value } = await createRegistrationToken(services, subject.server.id, input, visit.request);
      return { name: token.name, value, expires: token.expiresAt?.toISOString() ?? null };
    });
    return tokenPage(visit, subject, result);
  },
};

function tokenPage(visit: ConsoleRequest, subject: ServerSubject, { name, value, expires }: ShownToken): Drawn {
  return {
    view: 'token-created',
    title: 'Token created',
    lead: 'Copy it now. It is shown only once and cannot be read later.',
    crumbs: crumbsOf(subject),
    scripts: ['copy.js'],
    locals: {
      name,
      value,
      expires: expires === null ? null : momentOf(new Date(expires)),
      use: 'Send it with the registration, in the header Authorization:',
      example: `curl '${endpointOf(visit, subject)}' \\
  -H 'Authorization: Bearer ${value}' \\
  -H 'Content-Type: application/json' \\
  -d '{"client_name": "My client", "redirect_uris": ["https://client.example/callback"]}'`,
      home: homeOf(subject),
    },
  };
}

const revoke: ConsolePage = {
  path: '/api/servers/:serverId/registration/:tokenId/revoke',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const token = await getRegistrationToken(visit.services, subject.server.id, visit.params.tokenId ?? '');
    const facts = ['No client can register with this token from now on. Clients that did stay.', 'This cannot be undone.'];
    const title = phrase('Revoke “{token}”?', { token: token.name });
    return formPage({ title, crumbs: crumbsOf(subject), facts, submit: 'Revoke token', danger: true, cancel: homeOf(subject) }, typed);
  },
  async receive(visit) {
    const subject = await serverSubject(visit);
    await revokeRegistrationToken(visit.services, subject.server.id, visit.params.tokenId ?? '', visit.request);
    return { goTo: homeOf(subject), notice: 'token-revoked' };
  },
};

export const registrationPages: readonly ConsolePage[] = [list, create, revoke];
