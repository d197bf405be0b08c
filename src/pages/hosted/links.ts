/** Addresses that an application's registration names (OpenID Connect Dynamic Client Registration 1.0 section 2), made fit for a page. */
import type { ApplicationFacts } from './page-models.ts';

/** @returns the address when a link may lead there: http and https only, never `javascript:` or `data:` */
export const webAddress = (uri: string | undefined): string | undefined =>
  uri !== undefined && URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol) ? uri : undefined;

/** @returns the logo and the origin that the page's policy must allow; an unencrypted logo is left out */
export function logoOf(application: ApplicationFacts | undefined): {
  readonly logo: string | undefined;
  readonly images: readonly string[];
} {
  const logo = webAddress(application?.logoUri);
  if (logo === undefined || new URL(logo).protocol !== 'https:') return { logo: undefined, images: [] };
  return { logo, images: [new URL(logo).origin] };
}
