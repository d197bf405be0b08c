/** Bulk actions for rows selected in a list. */

import { chosenIn } from '../../pages/console/choose-page.ts';
import type { Choosing } from '../../pages/console/choosing.ts';
import type { Pieces } from '../../pages/console/downloads.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { ACTION_TEXTS, BULK_KINDS } from './action-texts.console.ts';
import { addressOfDraft } from './bulk.console.ts';
import { BULK_ACTIONS, type BulkActionName, type BulkItem, type BulkKind, kindOf, MOST_ROWS } from './bulk.resource.ts';
import { draftForRows, mayStart } from './bulk-jobs.service.ts';

/** Actions on rows of these kinds that the caller can start. */
const actionsOn = (kinds: readonly BulkKind[], request: RequestContext): readonly BulkActionName[] =>
  BULK_ACTIONS.filter((name) => kinds.includes(kindOf(name)) && name !== 'users.import' && mayStart(name, request));

/**
 * @param path of the list
 * @param kind of the rows, which the confirmation counts
 * @param also another kind whose actions apply to the same rows
 * @param total number of rows on all pages of the list
 * @param preset the preselected action
 */
export const choosingAction = (
  { request, query }: Pick<ConsoleRequest, 'request' | 'query'>,
  path: string,
  typed: Typed,
  {
    kind = 'users',
    also,
    total = 0,
    preset = '',
  }: { readonly kind?: BulkKind; readonly also?: BulkKind; readonly total: number | undefined; readonly preset?: BulkActionName | '' },
): Choosing => ({
  action: query.size === 0 ? path : `${path}?${query}`,
  name: 'chosen',
  submit: 'Continue',
  fields: [
    {
      name: 'action',
      label: 'Action',
      value: typed.values.get('action') ?? preset,
      options: actionsOn(also === undefined ? [kind] : [kind, also], request).map((name) => ({
        value: name,
        label: ACTION_TEXTS[name].label,
      })),
    },
    {
      name: 'scope',
      label: 'Apply to',
      value: typed.values.get('scope') ?? '',
      options: [
        { value: '', label: kind === 'users' ? 'Selected users' : 'Selected rows' },
        { value: 'all', label: phrase('All {total} of this list', { total: countOf(total, BULK_KINDS[kind].row) }) },
      ],
    },
  ],
  typed,
});

/** @throws {ApiError} validation: no row is selected, or no action */
export function chosenAction(
  form: URLSearchParams,
  request: RequestContext,
  ...kinds: readonly BulkKind[]
): { readonly action: BulkActionName; readonly ids: readonly string[] | undefined } {
  const action = actionsOn(kinds, request).find((name) => name === form.get('action'));
  if (action === undefined) throw validation([{ field: 'action', message: 'Select an action.' }]);
  return { action, ids: form.get('scope') === 'all' ? undefined : chosenIn(form).filter(isPrintable) };
}

/** A list whose rows can be selected for bulk actions. */
interface Choosable<T> {
  readonly kind: BulkKind;
  readonly also?: BulkKind;
  /** All rows of the list, or those with these IDs. A list that is read as a whole can leave the selection to `draftForList`. */
  readonly pieces: Pieces<T> | ((ids: readonly string[] | undefined) => Pieces<T>);
  rowOf(item: T): { readonly name: string; readonly item: BulkItem };
}

/** Reads the selected rows before the draft: a transaction that waits for a second connection could wait forever. */
async function selected<T>(pieces: Pieces<T>, rowOf: Choosable<T>['rowOf'], ids: readonly string[] | undefined) {
  const wanted = ids && new Set(ids);
  const rows: ReturnType<typeof rowOf>[] = [];
  for await (const piece of pieces) {
    rows.push(...piece.map(rowOf).filter(({ item }) => wanted === undefined || wanted.delete(item.id)));
    if (wanted?.size === 0 || rows.length > MOST_ROWS) break;
  }
  return rows;
}

/**
 * Drafts the action for the selected rows of a list, or for all of them. Only rows that the caller can see in the list can be selected.
 * @throws {ApiError} validation; as `draftForUsers`
 */
export async function draftForList<T>(
  { services, request }: ConsoleRequest,
  form: URLSearchParams,
  { kind, also = kind, pieces, rowOf }: Choosable<T>,
): Promise<{ readonly goTo: string }> {
  const { action, ids } = chosenAction(form, request, kind, also);
  const rows = await selected(typeof pieces === 'function' ? pieces(ids) : pieces, rowOf, ids);
  const { id } = await draftForRows(services, action, rows, request);
  return { goTo: addressOfDraft(id) };
}
