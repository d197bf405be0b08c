/** Applications and users on hosted pages: no secrets, and links to web pages only. */

/** The link back to an application, for a page that cannot continue. */
export interface ApplicationLink {
  readonly label: string;
  readonly clientUri?: string | undefined;
}

/** An application as its users see it. */
export interface ApplicationFacts {
  readonly id: string;
  readonly label: string;
  readonly clientUri?: string;
  readonly logoUri?: string;
  /** `#rrggbb`; absent: the service's. */
  readonly brandColor?: string;
  readonly policyUri?: string;
  readonly tosUri?: string;
}

export interface AccountFacts {
  readonly id: string;
  readonly login: string;
  /** Empty if the account has none. */
  readonly name: string;
}

/** Text that identifies an account. */
export const accountLabel = ({ login, name }: Pick<AccountFacts, 'login' | 'name'>): string =>
  name === '' || name === login ? login : `${name} (${login})`;

/** @returns the URL if it can be linked: http and https only, never `javascript:` or `data:` */
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

// Pages that appear in a sign-in (narrow layout) and on the account pages (in their frame): how the account pages render them.

/** The problem, and the ID of the field to correct. */
export interface FormProblem {
  readonly field: string;
  readonly message: string;
}

/** Parts that the layout replaces. */
interface Framing {
  readonly heading: string;
  readonly problems?: readonly FormProblem[] | undefined;
  /** HTTP status; absent: derived from the problems. */
  readonly status?: number | undefined;
}

/** Answers with a view in the frame. @param locals of the view */
export type DrawInFrame = (view: string, framing: Framing, locals: Record<string, unknown>) => Promise<void>;
