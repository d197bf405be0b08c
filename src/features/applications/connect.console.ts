/**
 * Applications → Connect: everything that a developer needs to connect the application to an authorization server, with snippets that run unchanged.
 */

import { detailPage, type Fact, type FactsPart, type Part } from '../../pages/console/detail-page.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { listRefusals } from '../audit/logs.service.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { listAuthorizationServers } from '../authorization-servers/authorization-servers.service.ts';
import { DEFAULT, issuerOf } from '../authorization-servers/server-id.policy.ts';
import type { Decision } from '../policies/decisions.policy.ts';
import { listServerScopes } from '../scopes/scopes.service.ts';
import { applicationIn, applicationTabs, headOf, mayChangeApplication, warningsOf } from './application-page.console.ts';
import { clientUsesSecret } from './application-settings.policy.ts';
import type { Application } from './applications.resource.ts';
import { profileInForce } from './fapi2.policy.ts';
import { withRedirectUri } from './settings.console.ts';
import { type Facts, isMachine, type Snippet, signsIn, snippetFacts } from './snippets/snippet.ts';
import { snippetsFor } from './snippets/snippets.ts';

/** The maximum number of scopes of a server. */
const ALL_SCOPES = 1000;

/** The requested server, otherwise the default one, otherwise the first. */
function chosenServer(servers: readonly AuthorizationServer[], { query }: ConsoleRequest): AuthorizationServer | undefined {
  return [query.get('server'), DEFAULT].map((wanted) => servers.find(({ id }) => id === wanted)).find(Boolean) ?? servers[0];
}

function secretFact({ id, settings, system }: Application): Fact {
  const { href } = applicationTabs(id).credentials;
  if (system) return { label: 'Client secret', value: phrase('Known only to the service') };
  if (clientUsesSecret(settings))
    return {
      label: 'Client secret',
      value: [{ text: phrase('Shown when it was created.') }, { text: phrase('If you lose it, create another one.'), href }],
    };
  return {
    label: 'Client secret',
    value:
      settings.token_endpoint_auth_method === 'none'
        ? phrase('None: the application does not authenticate and is protected by PKCE')
        : phrase('None: it signs with its key'),
  };
}

/** Requirements of the profile `service`. */
const STATE =
  'Required; letters, digits, comma, period, underscore and hyphen only. Spring Security, Auth.js, oauth2-proxy, Grafana and passport-openidconnect send others: choose the protocol profile OpenID Connect under Settings.';

const identity = (application: Application, facts: Facts, { profile }: AuthorizationServer): FactsPart => ({
  kind: 'facts',
  title: 'What the application needs',
  facts: [
    { label: 'Issuer', value: facts.issuer, copy: true },
    { label: 'Discovery document', value: `${facts.issuer}/.well-known/openid-configuration`, copy: true },
    { label: 'Client ID', value: facts.clientId, copy: true },
    secretFact(application),
    ...(facts.redirectUri === undefined ? [] : [{ label: 'Redirect URI', value: facts.redirectUri, copy: true }]),
    ...(signsIn(facts)
      ? [
          { label: 'Scopes', value: facts.scope, copy: true },
          {
            label: 'The parameter state',
            value: profileInForce(application.settings.profile, profile) !== 'service' ? phrase('May be left out') : phrase(STATE),
          },
        ]
      : []),
  ],
});

const ENDPOINTS: readonly (readonly [label: string, path: string])[] = [
  ['Authorization', 'authorize'],
  ['Token', 'token'],
  ['Userinfo', 'userinfo'],
  ['Introspection', 'introspect'],
  ['Revocation', 'revoke'],
  ['Keys', 'keys'],
  ['Logout', 'logout'],
];

const endpoints = ({ issuer }: Facts): FactsPart => ({
  kind: 'facts',
  title: 'Endpoints',
  lead: 'Libraries find them in the discovery document.',
  facts: ENDPOINTS.map(([label, path]) => ({ label, value: `${issuer}/${path}`, copy: true })),
});

function snippetParts(snippet: Snippet, facts: Facts): readonly Part[] {
  const { id, label, about } = snippet;
  const files = snippet.files(facts).map(
    ({ name, text }, at): Part => ({
      kind: 'text',
      title: verbatim(name),
      id: `${id}-${at}`,
      name: phrase('Content of {file}', { file: name }),
      text,
    }),
  );
  const [first, ...others] = files;
  return [
    { kind: 'words', title: phrase('With {name}', { name: label }), paragraphs: [about] },
    ...(first === undefined ? [] : [first, ...others]),
    {
      kind: 'text',
      title: 'Run it',
      ...(facts.authentication.startsWith('client_secret_') && {
        lead: 'Replace … with the client secret, which was shown when it was created. Keep it in the environment, never in the source.',
      }),
      id: `${id}-run`,
      name: 'how to run it',
      text: snippet.run(facts),
    },
  ];
}

/** A page whose origin is not allowed cannot read responses of the token endpoint (Fetch standard, section 3.2). */
function originWarning({ settings }: Application, { kind, redirectUri }: Facts): readonly Part[] {
  if (kind !== 'browser' || redirectUri === undefined || settings.allowed_origins.includes(new URL(redirectUri).origin)) return [];
  const { origin } = new URL(redirectUri);
  const words = phrase(
    'Pages of {origin} may not call the token endpoint, so no sign-in can end there: add {origin} to the allowed origins (CORS) under Settings.',
    { origin },
  );
  return [{ kind: 'words', tone: 'warning', paragraphs: [words] }];
}

/** Why there is no snippet, and what to do. */
function noSnippet(visit: ConsoleRequest, application: Application, facts: Facts): readonly Part[] {
  if (application.system) return [];
  const isWithoutAddress = !isMachine(facts) && facts.redirectUri === undefined;
  return [
    {
      kind: 'words',
      title: 'Snippets',
      paragraphs: [
        isWithoutAddress
          ? 'There is no sample for these settings: the application has no redirect URI without a query, in the form in which libraries send it.'
          : 'There is no sample for these settings. Samples are for the authorization code flow and for client credentials; see Settings, Flow.',
        ...(mayChangeApplication(visit, application) ? ['Change it under Settings.'] : []),
      ],
    },
  ];
}

const REFUSALS = 10;

/** The redirect URI of a refused request. */
function refusedUri({ debugContext }: StoredEvent): string | undefined {
  const { decision } = debugContext as { decision?: Decision };
  return decision?.kind === 'redirect-uri' ? decision.redirectUri : undefined;
}

const refusalsOf = ({ id, label }: Application) => new URLSearchParams({ application: `${label} (${id})`, outcome: 'FAILURE' });

/** The latest refused requests of the application, if any. */
async function refusedParts(visit: ConsoleRequest, application: Application): Promise<readonly Part[]> {
  const refused = await listRefusals(visit.services, application.id, REFUSALS);
  const isChangeable = mayChangeApplication(visit, application);
  if (refused.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'Refused requests',
      lead: 'The latest, one of each kind.',
      actions: [{ label: 'Search the system log', icon: 'search', href: `/admin/reports/log?${refusalsOf(application)}` }],
      name: 'Refused requests',
      columns: ['When', 'Request', 'Reason', 'Request ID'],
      rows: refused.map((event) => {
        const uri = refusedUri(event);
        const isMissing = uri !== undefined && !application.settings.redirect_uris.includes(uri);
        return {
          cells: [
            { moment: momentOf(event.published) },
            { text: event.displayMessage, href: `/admin/reports/log/${event.uuid}` },
            [{ text: event.outcome.reason ?? '' }, ...(uri === undefined ? [] : [{ text: uri, code: true }])],
            { text: event.transactionId ?? '', code: true },
          ],
          actions: isChangeable && isMissing ? [{ label: 'Add redirect URI', href: withRedirectUri(application.id, uri) }] : [],
        };
      }),
      empty: '',
    },
  ];
}

export const connect: ConsolePage = {
  path: '/applications/:id',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const servers = (await listAuthorizationServers(visit.services)).filter(({ status }) => status === 'ACTIVE');
    const server = chosenServer(servers, visit);
    const head = headOf(visit, application);
    const refused = await refusedParts(visit, application);
    if (server === undefined) return detailPage({ ...head, parts: [...warningsOf(application), ...refused] });
    const { items: scopes } = await listServerScopes(visit.services, server.id, undefined, { limit: ALL_SCOPES, after: undefined });
    const facts = snippetFacts(application, { issuer: issuerOf(visit.services.config.baseUrl, server.id), scopes });
    // The service's own applications are already connected.
    const snippets = application.system ? [] : snippetsFor(facts);
    const snippet = snippets.find(({ id }) => id === visit.query.get('with')) ?? snippets[0];
    const choose: Part = {
      kind: 'query',
      fields: [
        {
          name: 'server',
          label: 'Authorization server',
          suggest: '',
          options: servers.map(({ id, name }) => ({ value: id, label: verbatim(name) })),
          value: server.id,
        },
        ...(snippet === undefined
          ? []
          : [
              {
                name: 'with',
                label: 'Snippets with',
                options: snippets.map(({ id, label }) => ({ value: id, label: verbatim(label) })),
                value: snippet.id,
              },
            ]),
      ],
      typed: { values: new URLSearchParams(), problems: [] },
      submit: 'Show',
    };
    return detailPage({
      ...head,
      parts: [
        ...warningsOf(application),
        ...refused,
        choose,
        identity(application, facts, server),
        ...originWarning(application, facts),
        ...(snippet === undefined ? noSnippet(visit, application, facts) : snippetParts(snippet, facts)),
        endpoints(facts),
      ],
    });
  },
};
