/**
 * The parts of the playground's pages as data for `views/playground-story.ejs`: the request, its response, the underlying exchanges, and each token
 * decoded and explained. Display only; verification.ts validates the tokens.
 */
import { phrase, type Text } from '../platform/i18n/phrase.ts';
import { type ActionResult, TOKEN_TITLES, verbsFor } from './actions.ts';
import type { ShownExchange } from './exchange.ts';
import { type ExplanationRow, explainExchange } from './explanation.ts';
import { CLAIMS, type Glossary, HEADER, INTROSPECTION, REQUEST, RESPONSE_TERMS } from './glossary.ts';
import type { PlaygroundSession, TokenName } from './session.ts';
import { type Check, decodeToken } from './verification.ts';

/** A table, a text as it was transmitted, or both; with a title it can be collapsed. */
interface Block {
  readonly title?: Text;
  readonly open?: boolean;
  readonly rows?: readonly ExplanationRow[];
  readonly texts?: readonly { readonly id: string; readonly title?: Text; readonly text: string }[];
}

export interface Section {
  readonly id: string;
  readonly title: Text;
  readonly lead: Text;
  readonly badge?: string;
  readonly checks?: readonly Check[];
  readonly facts?: readonly ExplanationRow[];
  readonly blocks: readonly Block[];
  readonly buttons?: readonly { readonly action: string; readonly label: string; readonly describedBy: string }[];
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export function requestSection(endpoint: string, sent: PlaygroundSession['sent'], isAhead = false): Section {
  const url = `${endpoint}?\n${sent.map((pair) => new URLSearchParams([pair])).join('\n&')}`;
  return {
    id: 'sent',
    title: isAhead ? 'Preview' : 'What was sent',
    lead: phrase(
      'The application sends your browser to the server’s authorize endpoint with these {number} parameters. None of them is secret.',
      {
        number: sent.length,
      },
    ),
    blocks: [
      { title: 'Each parameter explained', open: isAhead, rows: explainExchange(sent, REQUEST) },
      { title: 'The complete address', open: isAhead, texts: [{ id: 'request-url', text: url }] },
    ],
  };
}

const RECEIVED_BY: Readonly<Record<PlaygroundSession['receivedBy'], string>> = {
  query: 'The server sent your browser back to the application, with the answer in the query of the address.',
  fragment:
    'The server sent your browser back with the response in the fragment of the address, after the #. Browsers do not send the fragment, so a script of the page passed it on.',
  form_post: 'The server gave your browser a form with the answer, and your browser posted it to the application.',
};

export function responseSection({ received, receivedBy }: PlaygroundSession, isOpen = false): Section {
  return {
    id: 'received',
    title: 'Response',
    lead: RECEIVED_BY[receivedBy],
    blocks: [
      { title: 'Each parameter explained', open: isOpen, rows: explainExchange(received, RESPONSE_TERMS) },
      {
        title: 'The raw answer',
        texts: [{ id: 'response', text: received.map((pair) => new URLSearchParams([pair])).join('\n&') }],
      },
    ],
  };
}

/** @param meaning glossaries for the response's members, in order of precedence */
function exchangeBlocks(id: string, { request, form, answer, members }: ShownExchange, isOpen: boolean, ...meaning: Glossary[]): Block[] {
  const blocks: Block[] = [];
  if (members !== undefined)
    blocks.push({ title: 'The answer explained', open: isOpen, rows: explainExchange(Object.entries(members), ...meaning) });
  if (form.length > 0) blocks.push({ title: 'The request explained', rows: explainExchange(form, REQUEST) });
  blocks.push({
    title: 'Raw request and answer',
    open: isOpen && members === undefined,
    texts: [
      { id: `${id}-request`, title: 'Request', text: request },
      { id: `${id}-answer`, title: 'Answer', text: answer },
    ],
  });
  return blocks;
}

export function tokenExchangeSection(exchange: ShownExchange, isOpen = false): Section {
  return {
    id: 'exchange',
    title: 'The code, exchanged for tokens',
    lead: 'The application called the token endpoint directly, not through your browser. Its secret and the code_verifier prove that it sent the first request.',
    blocks: exchangeBlocks('exchange', exchange, isOpen, RESPONSE_TERMS),
  };
}

export function resultSection({ verb, title, summary, exchange }: ActionResult): Section {
  const meaning = {
    refresh: [RESPONSE_TERMS],
    userinfo: [CLAIMS, RESPONSE_TERMS],
    introspect: [INTROSPECTION, CLAIMS, RESPONSE_TERMS],
    revoke: [RESPONSE_TERMS],
  }[verb];
  return { id: 'happened', title, lead: summary, blocks: exchangeBlocks('happened', exchange, true, ...meaning) };
}

const PURPOSES: Readonly<Record<'id' | 'access' | 'refresh', string>> = {
  id: 'Says who signed in, when and how. The server signs it for this application only.',
  access: 'The application sends it to an API.',
  refresh: 'The application gets new tokens with it, without asking you again. Opaque: only the server can read it.',
};
const OPAQUE = 'The application sends it to an API. This one is opaque: the API asks the server about it (introspection).';
const LABELS = { refresh: 'Refresh', userinfo: 'Ask for userinfo', introspect: 'Introspect', revoke: 'Revoke' } as const;

/** @param checks results of the token's validation @param facts other members of the response */
export function tokenSection(
  name: TokenName,
  token: string,
  { revoked }: PlaygroundSession,
  checks: Check[],
  facts: ExplanationRow[],
): Section {
  const decoded = decodeToken(token);
  const kind = name.endsWith('id-token') ? 'id' : name === 'refresh-token' ? 'refresh' : 'access';
  const raw = [{ id: name, title: 'Complete value', text: token }];
  const parts =
    decoded === undefined
      ? []
      : [
          { id: `${name}-header`, title: 'Header', text: json(decoded.header) },
          { id: `${name}-claims`, title: 'Claims', text: json(decoded.claims) },
        ];
  return {
    id: `${name}-section`,
    title: TOKEN_TITLES[name],
    lead: kind === 'access' && decoded === undefined ? OPAQUE : PURPOSES[kind],
    ...(revoked.includes(name) ? { badge: 'revoked' } : {}),
    checks,
    facts,
    blocks: [
      ...(decoded === undefined
        ? []
        : [
            { title: 'Claims explained', open: kind === 'id', rows: explainExchange(Object.entries(decoded.claims), CLAIMS) },
            { title: 'Header explained', rows: explainExchange(Object.entries(decoded.header), HEADER) },
          ]),
      { title: decoded === undefined ? 'Raw' : 'Raw: header, claims, complete value', texts: [...parts, ...raw] },
    ],
    buttons: verbsFor(name).map((verb) => ({ action: `${verb} ${name}`, label: LABELS[verb], describedBy: `${name}-section-title` })),
  };
}

/** @param checks empty if there is no ID token to compare with */
export function userinfoSection(exchange: ShownExchange, checks: Check[]): Section {
  return {
    id: 'userinfo-section',
    title: 'Userinfo',
    lead: 'The data about you that the server returns for the access token.',
    checks,
    blocks: [
      ...(exchange.members === undefined ? [] : [{ texts: [{ id: 'userinfo', text: json(exchange.members) }] }]),
      ...exchangeBlocks('userinfo', exchange, false, CLAIMS, RESPONSE_TERMS),
    ],
  };
}
