/** All snippets, and the selection for an application: suitable ones, those for its kind first. */
import { authlibSnippet } from './authlib.ts';
import { curlSnippet } from './curl.ts';
import { deviceSnippet } from './device.ts';
import { modAuthOpenidcSnippet } from './mod-auth-openidc.ts';
import { oidcClientTsSnippet } from './oidc-client-ts.ts';
import { openidClientSnippet } from './openid-client.ts';
import type { Facts, Snippet } from './snippet.ts';
import { springBootSnippet } from './spring-boot.ts';

const SNIPPETS: readonly Snippet[] = [
  openidClientSnippet,
  oidcClientTsSnippet,
  springBootSnippet,
  authlibSnippet,
  modAuthOpenidcSnippet,
  curlSnippet,
  deviceSnippet,
];

export function snippetsFor(facts: Facts): readonly Snippet[] {
  const matching = SNIPPETS.filter(({ matches: fits }) => fits(facts));
  const isFirst = ({ firstFor }: Snippet) => firstFor.includes(facts.kind);
  return [...matching.filter(isFirst), ...matching.filter((snippet) => !isFirst(snippet))];
}
