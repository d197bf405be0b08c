/** Addresses of the standards that the playground cites. */

const OPENID = 'https://openid.net/specs/';
const DOCUMENTS: Readonly<Record<string, string>> = {
  'OpenID Connect Core 1.0': `${OPENID}openid-connect-core-1_0.html`,
  'OpenID Connect Session Management 1.0': `${OPENID}openid-connect-session-1_0.html`,
  'OpenID Connect Front-Channel Logout 1.0': `${OPENID}openid-connect-frontchannel-1_0.html`,
  'OAuth 2.0 Multiple Response Types': `${OPENID}oauth-v2-multiple-response-types-1_0.html`,
  'Financial-grade API 1.0 Part 2': `${OPENID}openid-financial-api-part-2-1_0.html`,
};

/** @param source a document and its section, e.g. `RFC 6749, section 4.2` @returns the address of the section; undefined: it is none of these documents */
export function standardAddress(source: string): string | undefined {
  const [, title = '', section] = /^(.*?)(?:, section ([\d.]+))?$/.exec(source) ?? [];
  const [, rfc] = /^RFC (\d+)$/.exec(title) ?? [];
  if (rfc !== undefined) return `https://www.rfc-editor.org/rfc/rfc${rfc}${section === undefined ? '' : `#section-${section}`}`;
  const document = DOCUMENTS[title];
  return document && `${document}${section === undefined ? '' : `#rfc.section.${section}`}`;
}
