/** An authorization server's settings: what applications need for a connection, and how it issues tokens. */

import { z } from 'zod';
import type { Fact } from '../../pages/console/detail-page.ts';
import { durationOf } from '../../pages/console/durations.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { asPhrase, type Phrase, phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { audiencesOf } from './audience.policy.ts';
import { audiencesIn } from './authorization-server-fields.service.ts';
import type { AuthorizationServer } from './authorization-servers.resource.ts';
import { updateAuthorizationServer } from './authorization-servers.service.ts';
import { issuerOf } from './server-id.policy.ts';
import { crumbsBelow, type ServerSubject, serverPage, serverStatus, serverSubject } from './server-page.console.ts';
import {
  clientsIn,
  fieldOfAudiences,
  fieldOfDescription,
  fieldOfProfile,
  fieldOfRegistrationScopes,
  fieldsOfClients,
  fieldsOfKeys,
  fieldsOfLifetimes,
  fieldsOfTokens,
  NAME,
  PROFILES,
  settingsIn,
  typedServerFields,
} from './settings-fields.console.ts';

/** Paths below the issuer; also in the discovery document. */
const ENDPOINTS: readonly (readonly [label: string, path: string])[] = [
  ['Discovery (OpenID Connect)', '/.well-known/openid-configuration'],
  ['Discovery (OAuth 2.0)', '/.well-known/oauth-authorization-server'],
  ['Keys (JWKS)', '/keys'],
  ['Authorize', '/authorize'],
  ['Pushed authorization requests', '/par'],
  ['Device authorization', '/device_authorization'],
  ['Sign-in requests (CIBA)', '/backchannel-authentication'],
  ['Token', '/token'],
  ['Userinfo', '/userinfo'],
  ['Introspection', '/introspect'],
  ['Revocation', '/revoke'],
  ['Logout', '/logout'],
];

const LEADS = {
  builtIn: 'The built-in authorization server is for sign-in. Its name, audience, scopes and policy are fixed. Create your own for an API.',
  inactive: 'It is deactivated: its endpoints return 404 until it is activated again.',
} as const;

const settings: ConsolePage = {
  path: '/api/servers/:serverId',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { server, home, isBuiltIn, isChangeable } = subject;
    const issuer = issuerOf(visit.services.config.baseUrl, server.id);
    return serverPage(subject, {
      lead: isBuiltIn
        ? LEADS.builtIn
        : server.status === 'INACTIVE'
          ? LEADS.inactive
          : server.description === ''
            ? undefined
            : verbatim(server.description),
      actions: [
        ...(isChangeable ? [{ label: 'Edit settings', href: `${home}/edit`, main: true }] : []),
        { label: 'Registration', href: `${home}/registration` },
        { label: 'Protect an API', href: `${home}/protect` },
        ...(isBuiltIn ? [] : [{ label: 'MCP server', href: `${home}/mcp` }]),
      ],
      parts: [
        {
          kind: 'facts',
          title: 'Addresses',
          lead: 'Most libraries need only the issuer and discover the rest.',
          facts: [
            { label: 'Issuer', value: issuer, copy: true },
            ...ENDPOINTS.map(([label, path]): Fact => ({ label, value: `${issuer}${path}`, copy: true })),
          ],
        },
        { kind: 'facts', title: 'Settings', facts: factsOf(subject) },
      ],
    });
  },
};

const factsOf = ({ server, home }: ServerSubject): readonly Fact[] => [
  { label: 'Status', value: serverStatus(server.status) },
  { label: 'ID', value: server.id, copy: true },
  ...audiencesOf(server).map(
    (audience, at): Fact => ({
      label: at === 0 ? 'Audience' : phrase('Audience {number}', { number: at + 1 }),
      value: audience,
      copy: true,
    }),
  ),
  {
    label: 'Access tokens',
    value: phrase('{format}, live for {duration}', {
      format: server.accessTokenFormat === 'jwt' ? `JWT (${server.accessTokenType})` : phrase('Opaque'),
      duration: durationOf(server.accessTokenSeconds),
    }),
  },
  {
    label: 'Refresh tokens',
    value: phrase('Expire {duration} after sign-in, or after {unused} without use', {
      duration: durationOf(server.refreshTokenSeconds),
      unused: durationOf(server.refreshTokenWindowSeconds),
    }),
  },
  {
    label: 'Protocol profile',
    value: asPhrase(PROFILES.find(({ value }) => value === server.profile)?.label ?? verbatim(server.profile)),
  },
  { label: 'Client ID metadata documents', value: introducedClients(server) },
  { label: 'Dynamic registration', value: { text: phrase(REGISTRATION[server.registration.mode]), href: `${home}/registration` } },
  { label: 'Signing algorithm', value: { text: server.signingAlg, code: true } },
  { label: 'More algorithms', value: server.additionalSigningAlgs.map((text) => ({ text, code: true })) },
  { label: 'Rotation of the keys', value: phrase(server.rotationMode === 'AUTO' ? 'Automatic' : 'Manual') },
  { label: 'Description', value: server.description },
  { label: 'Created', value: { moment: momentOf(server.created) } },
  { label: 'Last changed', value: { moment: momentOf(server.lastUpdated) } },
];

const REGISTRATION = { OFF: 'Off', TOKEN: 'With an initial access token', OPEN: 'Open to everybody' } as const;

function introducedClients({ clientIdMetadata: { enabled, allowedDomains } }: AuthorizationServer): Phrase {
  if (!enabled) return phrase('Refused');
  return allowedDomains.length === 0
    ? phrase('Accepted from every host')
    : phrase('Accepted from {hosts}', { hosts: series(allowedDomains) });
}

/** For the built-in server, only the editable settings. */
const fieldsFor = async (visit: ConsoleRequest, { server, isBuiltIn }: ServerSubject, typed: Typed): Promise<readonly Field[]> => [
  ...(isBuiltIn
    ? [fieldOfProfile(server)]
    : [{ ...NAME, value: server.name } as Field, fieldOfAudiences(server), fieldOfDescription(server), ...fieldsOfTokens(server)]),
  ...fieldsOfLifetimes(server),
  ...fieldsOfClients(server),
  await fieldOfRegistrationScopes(visit, server, typed),
  ...fieldsOfKeys(server),
];

const edit: ConsolePage = {
  path: '/api/servers/:serverId/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const facts = subject.isBuiltIn
      ? ['You can change the profile, lifetimes and keys of the built-in authorization server. The rest is fixed.']
      : ['A change applies to new tokens. Issued tokens stay as they are.'];
    const page = { title: 'Edit settings', crumbs: crumbsBelow(subject), facts, fields: await fieldsFor(visit, subject, typed) };
    return formPage({ ...page, submit: 'Save', cancel: subject.home }, typed);
  },
  async receive(visit, form) {
    const subject = await serverSubject(visit);
    const { name, description, profile, accessTokenFormat, accessTokenType } = subject.server;
    const kept = { name, description, profile, accessTokenFormat, accessTokenType, audiences: audiencesOf(subject.server) };
    const typed = typedValues(await fieldsFor(visit, subject, NOTHING_TYPED), form);
    const { audiences, ...wanted } = parse(z.object(typedServerFields), { ...kept, ...clientsIn(typed) });
    await updateAuthorizationServer(visit.services, subject.server.id, { ...settingsIn(wanted), ...audiencesIn(audiences) }, visit.request);
    return { goTo: subject.home, notice: 'server-changed' };
  },
};

export const serverSettings: readonly ConsolePage[] = [settings, edit];
