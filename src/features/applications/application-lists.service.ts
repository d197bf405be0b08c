/** Finds applications: by ID, by a registered URI, and in lists with search and filter. */
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { attributeTypes } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { NumberedPage, NumberedWindow, Page, Window } from '../../platform/database/paging.ts';
import type { Application } from './applications.resource.ts';
import {
  APPLICATION_ATTRIBUTES,
  type ApplicationSelection,
  countConsent,
  findApplicationById,
  findByRegisteredValue,
  listApplicationsOpenTo,
  selectApplications,
  selectApplicationsInOrder,
} from './applications.store.ts';

/** Conditions, all of which an application must match. */
export interface ApplicationSearch {
  /** Words, each a prefix of a word of the label or of the client ID. */
  readonly q?: string | undefined;
  readonly filter?: string | undefined;
}

const selectionOf = ({ q, filter }: ApplicationSearch): ApplicationSelection => ({
  words: q,
  filters: filter === undefined ? [] : [parseFilter(filter, attributeTypes(APPLICATION_ATTRIBUTES), 'filter')],
});

/** Oldest first. @throws {ApiError} validation of the filter */
export const listApplications = async (services: Services, search: ApplicationSearch, window: Window): Promise<Page<Application>> =>
  selectApplications(services.database.knex, selectionOf(search), window);

/** One page by number in any order, with the total. @throws {ApiError} validation of the filter */
export const searchApplications = async (
  services: Services,
  search: ApplicationSearch,
  window: NumberedWindow,
): Promise<NumberedPage<Application>> => selectApplicationsInOrder(services.database.knex, selectionOf(search), window);

/** Counts active applications, without the service's own, and those that ask for consent (the others are trusted). */
export const consentCounts = ({ database: { knex } }: Services) => countConsent(knex);

/** @returns the application in any status; undefined if it does not exist */
export const findApplication = ({ knex }: Database, id: string): Promise<Application | undefined> => findApplicationById(knex, id);

/** Applications that a user can open. */
export const listApplicationsForUser = ({ knex }: Database, userId: string, window: Window): Promise<Page<Application>> =>
  listApplicationsOpenTo(knex, userId, window);

/** @returns the ID of the active application with this post-logout redirect URI */
export const findByPostLogoutRedirectUri = ({ knex }: Database, uri: string): Promise<string | undefined> =>
  findByRegisteredValue(knex, 'post_logout_redirect_uris', uri);

/** Can pages of this origin read responses of the OAuth endpoints (`allowed_origins` of any active application)? */
export const isOriginAllowed = async ({ knex }: Database, origin: string): Promise<boolean> =>
  (await findByRegisteredValue(knex, 'allowed_origins', origin)) !== undefined;
