/**
 * Definition of a console page: path, access, content and handling of its form. A form is posted to its own page, so that a user who must sign in
 * meanwhile returns to it. console.ts renders and refuses pages.
 */

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Access, Role, Verb } from '../../features/administrators/administration.policy.ts';
import type { ConsoleUser } from '../../features/administrators/administrators.service.ts';
import type { RequestContext } from '../../features/audit/audit-event.policy.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { IconName } from '../../platform/http/icons.ts';
import type { Text } from '../../platform/i18n/phrase.ts';
import type { PageNotice, Undo } from './notices.ts';

/** One visit of an administrator to a page. */
export interface ConsoleRequest {
  readonly services: Services;
  readonly person: ConsoleUser;
  /** Caller for the services. */
  readonly request: RequestContext & { readonly roles: readonly Role[] };
  readonly req: IncomingMessage;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** A text in the administrator's language. */
  translate(text: Text): string;
}

/** A breadcrumb; that of the page itself has no URL. */
export interface Crumb {
  readonly label: Text;
  readonly href?: string;
}

/** A link beside the heading. */
export interface Action {
  readonly label: Text;
  readonly href: string;
  readonly main?: boolean;
  /** Does it delete something? Absent: derived from its URL (actions.ts). */
  readonly danger?: boolean;
  /** Absent: derived from its URL. */
  readonly icon?: IconName;
}

/** One of the pages about an object. */
interface Tab extends Action {
  /** Is it the current page? Absent: it is if its URL is the page's. */
  readonly isCurrent?: boolean;
}

/** Status badge next to the title. */
export interface Status {
  readonly text: Text;
  readonly tone: 'good' | 'warning' | 'bad' | 'plain';
}

/** A page to render. Its texts are English, and rendered in the administrator's language; a name in place of a text is `verbatim`. */
export interface Drawn {
  /** Below `views/admin`. */
  readonly view: string;
  /** Heading and title. */
  readonly title: Text;
  readonly lead?: Text;
  /** Name for the initials before the title. */
  readonly avatar?: string;
  /** Status of the object, next to its name. */
  readonly status?: Status | undefined;
  /** Further actions in a menu; dangerous ones last. */
  readonly more?: readonly Action[];
  /** Breadcrumbs, without the page itself. */
  readonly crumbs?: readonly Crumb[];
  readonly actions?: readonly Action[];
  /** Pages about the same object; the current one is marked. */
  readonly tabs?: readonly Tab[];
  readonly scripts?: readonly string[];
  /** Origins of pictures from elsewhere. */
  readonly images?: readonly string[];
  readonly locals?: Readonly<Record<string, unknown>>;
}

/** Next page after a form. */
export interface GoTo {
  readonly goTo: string;
  readonly notice?: PageNotice;
  /** Undo button of the notice. Only for a step that is reversed completely. */
  readonly undo?: Undo | undefined;
}

/** A problem with a submitted form; without a field, with the form as a whole. */
export interface FieldMessage {
  readonly field?: string;
  readonly message: Text;
}

/** Submitted values and their problems. */
export interface Typed {
  readonly values: URLSearchParams;
  readonly problems: readonly FieldMessage[];
}

export const NOTHING_TYPED: Typed = { values: new URLSearchParams(), problems: [] };

/** Downloads of a page, at its address followed by `/download`. */
interface Download {
  /** File name; letters, digits and `._-`. */
  readonly name: string;
  /** Media type. */
  readonly type: string;
  readonly content: string | Readable;
}

export interface ConsolePage {
  /** Below `/admin`, with `:name` for a parameter. */
  readonly path: string;
  readonly access: Access;
  /** `write` for pages that only users with write access need; submitting a form always requires it. */
  readonly verb?: Verb;
  /**
   * Requires a sign-in within the last 15 minutes, with the second factor of users who have one; `of-administrators`: only if the page's user has a
   * role.
   */
  readonly needsFreshSignIn?: boolean | 'of-administrators';
  /** Maximum file size of the form in bytes. */
  readonly mostFileBytes?: number;
  /** @throws {ApiError} */
  show(visit: ConsoleRequest, typed: Typed): Promise<Drawn>;
  /** Handles the form. @throws {ApiError} the form is shown again with its errors */
  receive?(visit: ConsoleRequest, form: URLSearchParams): Promise<Drawn | GoTo>;
  /** Same access as the page. @throws {ApiError} */
  download?(visit: ConsoleRequest): Promise<Download>;
}
