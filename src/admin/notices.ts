/** What a page may have to say of the step before: fixed texts, named in its address, so that a link can say nothing else. */

export const NOTICES = {
  'not-carried-out': 'You had to sign in again, and what you sent was not carried out. Look at it once more and send it again.',
  'token-revoked': 'The token is revoked. The next call with it is refused.',
  'organization-created': 'The organization is created.',
  'organization-renamed': 'The organization has its new name.',
  'organization-deleted': 'The organization is deleted.',
  'department-created': 'The department is created.',
  'department-changed': 'The department is changed.',
  'department-deleted': 'The department is deleted.',
  'member-added': 'The member is added.',
  'member-changed': 'The member is changed.',
  'member-removed': 'The member is removed. The account itself stays.',
} as const;
export type Notice = keyof typeof NOTICES;

const PARAMETER = 'notice';

export const noticeIn = (query: URLSearchParams): string | undefined => {
  const name = query.get(PARAMETER) ?? '';
  return Object.hasOwn(NOTICES, name) ? NOTICES[name as Notice] : undefined;
};

/** @param path without a query */
export const withNotice = (path: string, notice: Notice | undefined): string =>
  notice === undefined ? path : `${path}?${PARAMETER}=${notice}`;
