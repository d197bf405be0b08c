/** Directory → Users → Import: a CSV file becomes a bulk action. */
import { type Field, formPage } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { validation } from '../../platform/errors/errors.ts';
import { addressOfDraft } from '../bulk/bulk.console.ts';
import { draftForRows } from '../bulk/bulk-jobs.service.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { usersFromCsv } from './users-csv.service.ts';

const MOST_BYTES = 20_000_000;

const FIELDS: readonly Field[] = [
  {
    name: 'file',
    label: 'CSV file',
    kind: 'file',
    required: true,
    alias: 'chosen',
    hint: 'UTF-8, at most 20 MB and 100,000 users. The first row names the columns: login, email, firstName, lastName and other attributes.',
  },
];

export const importPage: ConsolePage = {
  path: '/users/import',
  access: 'organizations',
  verb: 'write',
  mostFileBytes: MOST_BYTES,
  async show(_, typed) {
    const facts = [
      'Each row becomes an active user without a password. You confirm the import on the next page.',
      'Rows that cannot be imported are refused with a reason; the others are imported.',
    ];
    const crumbs = [{ label: 'Directory' }, { label: 'Users', href: '/admin/users' }];
    return formPage({ title: 'Import users', crumbs, facts, fields: FIELDS, submit: 'Continue', cancel: '/admin/users' }, typed);
  },
  async receive(visit, form) {
    const content = form.get('file') ?? '';
    if (content.trim() === '') throw validation([{ field: 'file', message: 'Select a CSV file that is not empty.' }]);
    const { attributes } = await currentUserSchema(visit.services);
    const job = await draftForRows(visit.services, 'users.import', usersFromCsv(content, attributes), visit.request);
    return { goTo: addressOfDraft(job.id) };
  },
};
