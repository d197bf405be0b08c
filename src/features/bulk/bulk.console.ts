/** Bulk actions: the list, and the page of one with its confirmation, progress and result. */

import { applicationsIn, groupsIn } from '../../pages/console/candidates.ts';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { detailPage, type Fact, listPage, type Tone } from '../../pages/console/detail-page.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import { countOf, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { notFound, validation } from '../../platform/errors/errors.ts';
import { listFile } from '../../platform/http/list-files.ts';
import { type Phrase, phrase, refusalText, series } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { STRANDED } from './action-effects.console.ts';
import { ACTION_TEXTS, BULK_KINDS } from './action-texts.console.ts';
import { BULK_ACTIONS, type BulkJob, type BulkParameters, kindOf } from './bulk.resource.ts';
import { cancelJob, firstItems, getJob, jobRows, listJobs, mayStart, startJob } from './bulk-jobs.service.ts';

const HOME = '/admin/bulk';
/** Number of rows named on the confirmation page, and of refused rows shown on the job's page. */
const NAMED = 5;
const SHOWN = 50;
/** Number of rows whose effects are counted. */
const COUNTED = 200;
const CRUMBS = [{ label: 'Directory' }, { label: 'Bulk actions', href: HOME }];
const STATES: Readonly<Record<BulkJob['state'], readonly [label: string, tone: Tone]>> = {
  DRAFT: ['Not confirmed', 'plain'],
  RUNNING: ['Running', 'warning'],
  DONE: ['Done', 'good'],
  CANCELLED: ['Cancelled', 'bad'],
};

const addressOfJob = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;
/** Address of the confirmation page. */
export const addressOfDraft = (id: string): string => `${addressOfJob(id)}/confirm`;

const stateOf = ({ state }: BulkJob) => ({ text: STATES[state][0], tone: STATES[state][1] });
const rowsOf = ({ action, total }: BulkJob): Phrase => countOf(total, BULK_KINDS[kindOf(action)].row);

const COLUMNS: ListColumns = [
  { label: 'Action', by: 'action', codes: BULK_ACTIONS },
  { label: 'Rows', by: 'total', descending: true },
  { label: 'Status', by: 'state', codes: Object.keys(STATES) },
  'Created by',
  { label: 'Created', by: 'created', descending: true },
];

const list: ConsolePage = {
  path: '/bulk',
  access: 'organizations',
  async show({ services, query, request }) {
    const { items, total } = await listJobs(services, pageIn(query, COLUMNS), request);
    return listPage({
      title: 'Bulk actions',
      lead: 'Actions on many rows of a list at once, and imports. They are kept for seven days.',
      crumbs: [{ label: 'Directory' }],
      list: {
        name: 'Bulk actions',
        rows: items.map((job) => ({
          cells: [
            { text: phrase(ACTION_TEXTS[job.action].label), href: job.state === 'DRAFT' ? addressOfDraft(job.id) : addressOfJob(job.id) },
            rowsOf(job),
            stateOf(job),
            job.request.actor.displayName,
            { moment: momentOf(job.created) },
          ],
        })),
        empty: 'No bulk actions in the last seven days. Select rows of a list to begin one.',
        emptyAction: { label: 'Users', href: '/admin/users' },
        ...paged(HOME, query, COLUMNS, { total }, 'bulk action'),
      },
    });
  },
};

/** Additional fields of the action. */
async function fieldsFor(visit: ConsoleRequest, job: BulkJob, typed: Typed): Promise<readonly Field[]> {
  const { needs } = ACTION_TEXTS[job.action];
  if (needs === 'group') {
    // Preselects the group whose list the users were selected in.
    const value = visit.query.get('group') ?? undefined;
    return [await pickField(groupsIn(visit), { name: 'group', label: 'Group', alias: 'groupId', value }, typed)];
  }
  if (needs === 'application') {
    return [await pickField(applicationsIn(visit), { name: 'application', label: 'Application', alias: 'applicationId' }, typed)];
  }
  if (needs !== 'mail') return [];
  const hint = 'Users choose their own password by the link. Users without an e-mail address are refused.';
  return [{ name: 'sendEmail', label: 'Send each user a link by e-mail', kind: 'check', hint }];
}

/** @throws {ApiError} validation */
async function parametersIn(visit: ConsoleRequest, { action }: BulkJob, form: URLSearchParams): Promise<BulkParameters> {
  const { needs } = ACTION_TEXTS[action];
  const picked = async (name: 'group' | 'application', id: Promise<string | undefined>) => {
    const found = await id;
    if (found === undefined) throw validation([{ field: name, message: 'is required' }]);
    return found;
  };
  if (needs === 'group') return { groupId: await picked('group', pickedId(groupsIn(visit), 'group', form.get('group') ?? '')) };
  if (needs === 'application') {
    return { applicationId: await picked('application', pickedId(applicationsIn(visit), 'application', form.get('application') ?? '')) };
  }
  return needs === 'mail' ? { sendEmail: form.has('sendEmail') } : {};
}

async function firstRows({ services, request }: ConsoleRequest, id: string, outcome: 'REFUSED' | undefined, most: number) {
  for await (const rows of jobRows(services, id, outcome, request)) return rows.slice(0, most);
  return [];
}

/** Counts other objects that the rows affect. */
async function affectedFacts({ services }: ConsoleRequest, job: BulkJob): Promise<readonly Phrase[]> {
  const { affects } = ACTION_TEXTS[job.action];
  if (affects === undefined) return [];
  const items = await firstItems(services, job, COUNTED);
  const sums = new Map(
    await affects(
      services,
      items.map((item) => ({ ...item })),
    ),
  );
  const number = (count: number, one: string): Phrase =>
    job.total > COUNTED ? phrase('more than {number}', { number: countOf(count, one) }) : affectedCount(count, one);
  const stranded = sums.get(STRANDED) ?? 0;
  const numbers = [...sums].filter(([one, count]) => count > 0 && one !== STRANDED).map(([one, count]) => number(count, one));
  return [
    ...(numbers.length === 0 ? [] : [phrase('This affects {things}.', { things: series(numbers) })]),
    ...(stranded === 0
      ? []
      : [phrase('This includes {users} without a password, who may have no other way to sign in.', { users: number(stranded, 'user') })]),
  ];
}

async function confirmation(visit: ConsoleRequest, job: BulkJob, typed: Typed): Promise<Drawn> {
  const { label, does, danger = false } = ACTION_TEXTS[job.action];
  const first = await firstRows(visit, job.id, undefined, NAMED);
  const names = first.map(({ name }) => name);
  const others = job.total - names.length;
  const named = series(names);
  const listed = others > 0 ? phrase('{names} and {count} more', { names: named, count: others }) : named;
  const facts = [does, ...(await affectedFacts(visit, job)), listed];
  return formPage(
    {
      title: phrase('{action}: {users}?', { action: phrase(label), users: rowsOf(job) }),
      crumbs: CRUMBS,
      facts,
      fields: await fieldsFor(visit, job, typed),
      submit: phrase('{action}: {users}', { action: phrase(label), users: rowsOf(job) }),
      danger,
      cancel: BULK_KINDS[kindOf(job.action)].list ?? HOME,
    },
    typed,
  );
}

async function progress(visit: ConsoleRequest, job: Awaited<ReturnType<typeof getJob>>): Promise<Drawn> {
  const { label } = ACTION_TEXTS[job.action];
  const { done, refused, waiting } = job.rows;
  const isRunning = job.state === 'RUNNING';
  const rows = await firstRows(visit, job.id, 'REFUSED', SHOWN);
  const facts: readonly Fact[] = [
    { label: 'Created by', value: job.request.actor.displayName },
    { label: 'Started', value: { moment: momentOrNull(job.started) } },
    { label: 'Ended', value: { moment: momentOrNull(job.finished) } },
    { label: 'Kept until', value: { moment: momentOf(job.expiresAt) } },
  ];
  const words = phrase('{done} done, {refused} refused, {waiting} left.', { done, refused, waiting });
  return detailPage({
    title: phrase('{action}: {users}', { action: phrase(label), users: rowsOf(job) }),
    status: stateOf(job),
    crumbs: CRUMBS,
    actions: [
      ...(job.state === 'DRAFT' ? [{ label: 'Confirm', href: addressOfDraft(job.id), main: true }] : []),
      ...(isRunning ? [{ label: 'Refresh', icon: 'reset' as const, href: addressOfJob(job.id) }] : []),
      ...(isRunning && mayStart(job.action, visit.request)
        ? [{ label: 'Cancel the rest', href: `${addressOfJob(job.id)}/cancel`, danger: true }]
        : []),
      { label: 'Download the result', href: `${addressOfJob(job.id)}/download` },
      ...(refused > 0 ? [{ label: 'Download refused rows', href: `${addressOfJob(job.id)}/download?outcome=REFUSED` }] : []),
    ],
    parts: [
      { kind: 'progress', label: 'Progress', done: done + refused, total: job.total, words, isRunning },
      { kind: 'facts', facts },
      ...(rows.length === 0
        ? []
        : [
            {
              kind: 'table',
              title: 'Refused rows',
              ...(refused > SHOWN && { lead: phrase('The first {count}. The file has all of them.', { count: SHOWN }) }),
              name: 'Refused rows',
              columns: ['Name', 'Row', 'Reason'],
              rows: rows.map(({ name, line, reason }) => ({ cells: [name, String(line), refusalText(reason ?? '')] })),
              empty: '',
            } as const,
          ]),
    ],
  });
}

const confirm: ConsolePage = {
  path: '/bulk/:id/confirm',
  access: 'organizations',
  verb: 'write',
  needsFreshSignIn: true,
  async show(visit, typed) {
    const job = await getJob(visit.services, visit.params.id ?? '', visit.request);
    return job.state === 'DRAFT' ? confirmation(visit, job, typed) : progress(visit, job);
  },
  async receive(visit, form) {
    const job = await getJob(visit.services, visit.params.id ?? '', visit.request);
    if (job.state !== 'DRAFT') return { goTo: addressOfJob(job.id) };
    await startJob(visit.services, job.id, await parametersIn(visit, job, form), visit.request);
    return { goTo: addressOfJob(job.id), notice: 'bulk-action-started' };
  },
};

const one: ConsolePage = {
  path: '/bulk/:id',
  access: 'organizations',
  async show(visit) {
    return progress(visit, await getJob(visit.services, visit.params.id ?? '', visit.request));
  },
  async download({ services, params, query, request }) {
    const outcome = query.get('outcome') === 'REFUSED' ? 'REFUSED' : undefined;
    const { id } = await getJob(services, params.id ?? '', request);
    async function* rows() {
      for await (const some of jobRows(services, id, outcome, request)) yield* some;
    }
    return listFile(id, 'csv', ['line', 'name', 'outcome', 'reason'], rows());
  },
};

const cancel: ConsolePage = {
  path: '/bulk/:id/cancel',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const job = await getJob(visit.services, visit.params.id ?? '', visit.request);
    const { id, action, state, rows } = job;
    if (state !== 'RUNNING') throw notFound('cancel', 'Page');
    const facts = [phrase('{waiting} rows are left. They stay as they are; rows that are done stay done.', { waiting: rows.waiting })];
    const title = phrase('Cancel “{action}: {users}”?', { action: phrase(ACTION_TEXTS[action].label), users: rowsOf(job) });
    return formPage({ title, crumbs: CRUMBS, facts, submit: 'Cancel the rest', danger: true, cancel: addressOfJob(id) }, typed);
  },
  async receive(visit) {
    const id = visit.params.id ?? '';
    await cancelJob(visit.services, id, visit.request);
    return { goTo: addressOfJob(id), notice: 'bulk-action-cancelled' };
  },
};

export const bulkPages: readonly ConsolePage[] = [list, cancel, confirm, one];
