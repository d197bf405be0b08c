/** Builds the locals of `views/playground-story.ejs` for a finished or failed sign-in. */
import type { ProtocolProblem } from '../platform/http/protocol-problem.ts';
import { asPhrase, phrase, type Text } from '../platform/i18n/phrase.ts';
import type { ActionResult } from './actions.ts';
import { bringsCode } from './authorization-request.ts';
import { type Choices, choiceFields } from './choices.ts';
import { explainExchange } from './explanation.ts';
import { ERRORS, RESPONSE_TERMS } from './glossary.ts';
import type { ServerAccess } from './relying-party.ts';
import {
  requestSection,
  responseSection,
  resultSection,
  type Section,
  tokenExchangeSection,
  tokenSection,
  userinfoSection,
} from './sections.ts';
import { type PlaygroundSession, TOKENS, type TokenName } from './session.ts';
import { type Check, checkAccessToken, checkIdToken, decodeToken } from './verification.ts';

// Addresses of the standards that the playground cites.

const OPENID = 'https://openid.net/specs/';
const DOCUMENTS: Readonly<Record<string, string>> = {
  'OpenID Connect Core 1.0': `${OPENID}openid-connect-core-1_0.html`,
  'OpenID Connect Session Management 1.0': `${OPENID}openid-connect-session-1_0.html`,
  'OpenID Connect Front-Channel Logout 1.0': `${OPENID}openid-connect-frontchannel-1_0.html`,
  'OAuth 2.0 Multiple Response Types': `${OPENID}oauth-v2-multiple-response-types-1_0.html`,
  'Financial-grade API 1.0 Part 2': `${OPENID}openid-financial-api-part-2-1_0.html`,
};

/** @param source a document and its section, e.g. `RFC 6749, section 4.2` @returns the address of the section; undefined: an unknown document */
export function standardAddress(source: string): string | undefined {
  const [, title = '', section] = /^(.*?)(?:, section ([\d.]+))?$/.exec(source) ?? [];
  const [, rfc] = /^RFC (\d+)$/.exec(title) ?? [];
  if (rfc !== undefined) return `https://www.rfc-editor.org/rfc/rfc${rfc}${section === undefined ? '' : `#section-${section}`}`;
  const document = DOCUMENTS[title];
  return document && `${document}${section === undefined ? '' : `#rfc.section.${section}`}`;
}

export interface Story {
  readonly session: PlaygroundSession;
  readonly clientId: string;
  readonly server: ServerAccess;
  readonly serverName: Text;
}

const common = { wide: true, stylesheets: ['playground-story.css'], scripts: ['copy.js'], standardAddress };

/** Data of pages with a start form. */
const startFormLocals = (choices: Choices) => ({
  choiceFields: choiceFields(choices),
  change: `/playground?${new URLSearchParams(choiceFields(choices))}`,
});

const value = (fields: PlaygroundSession['received'], wanted: string): string | undefined => fields.find(([name]) => name === wanted)?.[1];

/** Everything an application checks before it relies on a token. */
export async function checksOf(name: TokenName, token: string, { session, clientId, server }: Story): Promise<Check[]> {
  const { issuer, nonce, received, tokenExchange, tokens } = session;
  const { keys } = server;
  if (name === 'refresh-token') return [];
  if (!name.endsWith('id-token')) return checkAccessToken(token, { issuer, keys });
  const isFront = token === value(received, 'id_token');
  const isRenewed = !isFront && token !== tokenExchange?.members?.id_token;
  const companions = isFront
    ? { accessToken: value(received, 'access_token'), code: value(received, 'code') }
    : { accessToken: tokens['access-token'] };
  return checkIdToken(token, isRenewed, { issuer, clientId, nonce, keys, ...companions });
}

/** Scope and lifetime of an access token, if the response contains them (RFC 6749 section 5.1). */
function factsOf(name: TokenName, { received, tokenExchange, choices, tokens }: PlaygroundSession) {
  if (!name.endsWith('access-token')) return [];
  const isFront = name === 'front-access-token' || tokens[name] === value(received, 'access_token');
  const response: Readonly<Record<string, unknown>> = isFront ? Object.fromEntries(received) : (tokenExchange?.members ?? {});
  const facts: [string, unknown][] = [['scope', response.scope ?? choices.scope]];
  if (response.expires_in !== undefined) facts.push(['expires_in', response.expires_in]);
  return explainExchange(facts, RESPONSE_TERMS);
}

function userinfoChecks({ userinfoExchange, tokens }: PlaygroundSession): Check[] {
  const subject = decodeToken(tokens['id-token'] ?? '')?.claims.sub;
  if (subject === undefined || userinfoExchange?.status !== 200) return [];
  const passed = userinfoExchange.members?.sub === subject;
  const label = passed ? 'sub is the one of the ID token' : 'sub is not the one of the ID token';
  return [{ passed, label, source: 'OpenID Connect Core 1.0, section 5.3.2' }];
}

const nameOf = ({ userinfoExchange, tokens }: PlaygroundSession): string | undefined => {
  const claims = {
    ...decodeToken(tokens['id-token'] ?? '')?.claims,
    ...(userinfoExchange?.status === 200 ? userinfoExchange.members : {}),
  };
  return [claims.name, claims.nickname, claims.email].find((name) => typeof name === 'string');
};

/** @param sealed the session for its actions @param happened result of the last action */
export async function presentResult(story: Story, sealed: string, happened?: ActionResult) {
  const { session, server, serverName } = story;
  const { choices, endpoint, sent, tokenExchange, userinfoExchange, tokens } = session;
  const sections: Section[] = happened === undefined ? [] : [resultSection(happened)];
  sections.push(requestSection(endpoint, sent), responseSection(session));
  if (tokenExchange !== undefined) sections.push(tokenExchangeSection(tokenExchange));
  for (const name of TOKENS) {
    const token = tokens[name];
    if (token !== undefined) sections.push(tokenSection(name, token, session, await checksOf(name, token, story), factsOf(name, session)));
  }
  if (userinfoExchange !== undefined) sections.push(userinfoSection(userinfoExchange, userinfoChecks(session)));
  const endSession = server.endSession(tokens['id-token'], 'signed-out');
  const name = nameOf(session);
  return {
    ...common,
    ...startFormLocals(choices),
    title: happened?.title ?? 'Signed in',
    kind: 'result',
    name,
    at: phrase('You signed in at {server}.', { server: asPhrase(serverName) }),
    issuer: session.issuer,
    withoutRefresh: bringsCode(choices.response_type) && tokens['refresh-token'] === undefined,
    sealed,
    sections,
    signOut: { action: endSession.origin + endSession.pathname, parameters: [...endSession.searchParams] },
  };
}

/** The server refused, or its response is invalid: the response, its meaning, and the next step. */
export function presentProblem(session: PlaygroundSession, problem: ProtocolProblem) {
  const { choices, endpoint, sent, tokenExchange } = session;
  const [meaning, source] = Object.hasOwn(ERRORS, problem.code) ? (ERRORS[problem.code] ?? []) : [];
  return {
    ...common,
    ...startFormLocals(choices),
    title: 'Error: The sign-in did not work',
    kind: 'problem',
    problem: { code: problem.code, description: problem.description, meaning, source },
    sections: [
      responseSection(session, tokenExchange === undefined),
      ...(tokenExchange === undefined ? [] : [tokenExchangeSection(tokenExchange, true)]),
      requestSection(endpoint, sent),
    ],
  };
}

/** The request before it is sent. */
export function presentRequest(choices: Choices, request: { url: URL; sent: PlaygroundSession['sent'] }) {
  const { url, sent } = request;
  return {
    ...common,
    ...startFormLocals(choices),
    title: 'The authorization request',
    kind: 'request',
    go: url.href,
    sections: [requestSection(url.origin + url.pathname, sent, true)],
  };
}
