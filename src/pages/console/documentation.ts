/** Documentation page for each console page. */

/** The first matching pattern decides; pages are below `docs`. */
const PAGES: readonly (readonly [path: RegExp, page: string])[] = [
  [/^\/admin\/users\/import/, 'how-to/move-users-in'],
  [/^\/admin\/users\/invite/, 'how-to/invite-users'],
  [/^\/admin\/organizations\/[^/]+\/(domains|sign-in)/, 'how-to/customers-own-provider'],
  [/^\/admin\/(users|groups|organizations|bulk)/, 'how-to/manage-many-users'],
  [/^\/admin\/applications/, 'how-to/connect-a-framework'],
  [/^\/admin\/api\/servers\/[^/]+\/details/, 'how-to/authorization-details'],
  [/^\/admin\/api\/servers\/[^/]+\/(scopes|policies)/, 'tutorials/protect-an-api'],
  [/^\/admin\/api\/(mcp|servers\/[^/]+\/mcp)$/, 'how-to/protect-an-mcp-server'],
  [/^\/admin\/api\/servers\/[^/]+\/keys/, 'how-to/operate'],
  [/^\/admin\/api\/servers\/[^/]+\/protect/, 'how-to/ask-for-a-stronger-sign-in'],
  [/^\/admin\/api\/servers/, 'tutorials/protect-an-api'],
  [/^\/admin\/api\/event-hooks/, 'reference/events'],
  [/^\/admin\/api\/inline-hooks/, 'how-to/use-inline-hooks'],
  [/^\/admin\/api\/signal-streams/, 'how-to/send-signals'],
  [/^\/admin\/api\/tokens/, 'how-to/use-okta-sdks'],
  [/^\/admin\/security\/bots/, 'how-to/slow-bots-down'],
  [/^\/admin\/security\/sign-up/, 'how-to/let-users-sign-up'],
  [/^\/admin\/security\/sign-in-policy/, 'how-to/sign-in-by-email'],
  [/^\/admin\/security\/identity-providers/, 'how-to/add-an-identity-provider'],
  [/^\/admin\/security\/administrators/, 'how-to/recover-an-administrator'],
  [/^\/admin\/security\/(zones|sign-in-policy)/, 'how-to/sign-in-rules'],
  [/^\/admin\/security\/passwords/, 'how-to/reject-breached-passwords'],
  [/^\/admin\/security/, 'explanation/security'],
  [/^\/admin\/reports/, 'how-to/find-out-why'],
  [/^\/admin\/settings\/telephony/, 'how-to/send-codes-to-phones'],
  [/^\/admin\/settings\/mail/, 'reference/environment'],
];

/** @returns the address of the page; undefined: none explains it */
export function documentationOf(path: string): string | undefined {
  const page = PAGES.find(([pattern]) => pattern.test(path))?.[1];
  return page === undefined ? undefined : `/docs/${page}`;
}

/** All linked pages, for the test that they exist. */
export const DOCUMENTATION_PAGES: readonly string[] = PAGES.map(([, page]) => page);
