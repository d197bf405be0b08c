/** Bulk actions for users selected in a list. */

import { chosenIn } from '../../pages/console/choose-page.ts';
import type { Choosing } from '../../pages/console/detail-page.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { ACTION_TEXTS } from './action-texts.console.ts';
import { addressOfDraft } from './bulk.console.ts';
import { BULK_ACTIONS, type BulkActionName } from './bulk.resource.ts';
import { draftForUsers, mayStart } from './bulk-jobs.service.ts';

const ON_USERS = BULK_ACTIONS.filter((name) => name !== 'users.import');

/**
 * @param path of the list, with its query
 * @param total rows of the list on all pages; absent: only those of the page can be chosen
 * @param preset the action that is chosen at first
 */
export const choosingAction = (
  { request }: ConsoleRequest,
  path: string,
  typed: Typed,
  { total, preset = '' }: { readonly total?: number; readonly preset?: BulkActionName | '' },
): Choosing => ({
  action: path,
  name: 'chosen',
  submit: 'Continue',
  fields: [
    {
      name: 'action',
      label: 'Action',
      value: typed.values.get('action') ?? preset,
      options: ON_USERS.filter((name) => mayStart(name, request)).map((name) => ({ value: name, label: ACTION_TEXTS[name].label })),
    },
    ...(total === undefined
      ? []
      : [
          {
            name: 'scope',
            label: 'Apply to',
            value: typed.values.get('scope') ?? '',
            options: [
              { value: '', label: 'Selected users' },
              { value: 'all', label: phrase('All {total} of this list', { total: countOf(total, 'user') }) },
            ],
          },
        ]),
  ],
  typed,
});

/** @throws {ApiError} validation: no row is selected, or no action */
export function chosenAction(
  form: URLSearchParams,
  request: RequestContext,
): { readonly action: BulkActionName; readonly ids: readonly string[] | undefined } {
  const action = ON_USERS.find((name) => name === form.get('action') && mayStart(name, request));
  if (action === undefined) throw validation([{ field: 'action', message: 'Select an action.' }]);
  return { action, ids: form.get('scope') === 'all' ? undefined : chosenIn(form) };
}

/** Drafts the action for the selected rows of a list of members. @returns the address of the confirmation @throws {ApiError} validation; as `draftForUsers` */
export async function draftForMembers({ services, request }: ConsoleRequest, form: URLSearchParams): Promise<string> {
  const { action, ids = [] } = chosenAction(form, request);
  const { id } = await draftForUsers(services, action, { query: { filter: 'id pr' }, ids }, request);
  return addressOfDraft(id);
}
