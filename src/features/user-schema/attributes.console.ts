/** Directory → Attributes: the custom attributes of users. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import { listPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { attributeTyped, fieldsOfAttribute, rulesInWords, SELF_WORDS, TYPE_WORDS } from './attribute-form.console.ts';
import { ATTRIBUTE_TYPES, type Attribute, SELF_PERMISSIONS } from './attributes.resource.ts';
import { changeUserSchema, readUserSchema } from './user-schema.service.ts';

const HOME = '/admin/attributes';
const CRUMBS = [{ label: 'Directory' }, { label: 'Attributes', href: HOME }];

/** @throws {ApiError} not found */
async function attributeOf({ services, params }: ConsoleRequest): Promise<Attribute> {
  const { attributes } = await readUserSchema(services);
  const found = attributes.find(({ name }) => name === params.name);
  if (found === undefined) throw notFound(params.name ?? '', 'Attribute');
  return found;
}

const COLUMNS: ListColumns = [
  { label: 'Label', by: 'title', searched: true },
  { label: 'Name', by: 'name', searched: true },
  { label: 'Type', by: 'type', codes: ATTRIBUTE_TYPES },
  'Rules',
  { label: 'On the account page', by: 'self', codes: SELF_PERMISSIONS },
];

const list: ConsolePage = {
  path: '/attributes',
  access: 'service',
  async show({ services, request, query }) {
    const { items, total } = inPages((await readUserSchema(services)).attributes, pageIn(query, COLUMNS));
    const mayWrite = mayCall(request.roles, 'service', 'write');
    const add = { label: 'Add attribute', href: `${HOME}/new`, main: true };
    return listPage({
      title: 'Attributes',
      lead: 'Add attributes to the profile of users. Claims can put them into tokens.',
      crumbs: [{ label: 'Directory' }],
      actions: mayWrite ? [add] : [],
      list: {
        name: 'Attributes',
        rows: items.map((attribute) => ({
          cells: [
            mayWrite ? { text: verbatim(attribute.title), href: `${HOME}/${attribute.name}` } : verbatim(attribute.title),
            { text: attribute.name, code: true },
            phrase(TYPE_WORDS[attribute.type]),
            rulesInWords(attribute),
            phrase(SELF_WORDS[attribute.self]),
          ],
          ...(mayWrite && {
            actions: [
              { label: 'Edit', href: `${HOME}/${attribute.name}`, icon: 'edit' as const },
              { label: 'Remove', href: `${HOME}/${attribute.name}/remove` },
            ],
          }),
        })),
        empty: 'There are only the built-in attributes. Add one, e.g. a member number.',
        emptyAction: mayWrite ? add : undefined,
        ...paged(HOME, query, COLUMNS, { total }, 'attribute'),
      },
    });
  },
};

const create: ConsolePage = {
  path: '/attributes/new',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    const submit = 'Add attribute';
    const fields = fieldsOfAttribute(undefined, typed.values.get('name')?.trim() ?? '');
    return formPage({ title: submit, crumbs: CRUMBS, fields, submit, cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const attribute = attributeTyped(undefined, form);
    await changeUserSchema(services, new Map([[attribute.name, attribute]]), request, { onlyNew: true });
    return { goTo: HOME, notice: 'attribute-added' };
  },
};

const edit: ConsolePage = {
  path: '/attributes/:name',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const attribute = await attributeOf(visit);
    const page = {
      title: phrase('Attribute {attribute}', { attribute: attribute.name }),
      lead: 'New rules apply to values that are written from now on.',
      crumbs: CRUMBS,
      facts: [phrase('Type: {type}', { type: phrase(TYPE_WORDS[attribute.type]) })],
      fields: fieldsOfAttribute(attribute, attribute.name),
    };
    return formPage({ ...page, submit: 'Save', cancel: HOME }, typed);
  },
  async receive(visit, form) {
    const attribute = attributeTyped(await attributeOf(visit), form);
    await changeUserSchema(visit.services, new Map([[attribute.name, attribute]]), visit.request);
    return { goTo: HOME, notice: 'attribute-changed' };
  },
};

const remove = confirmedStep({
  path: '/attributes/:name/remove',
  access: 'service',
  submit: 'Remove attribute',
  danger: true,
  notice: 'attribute-removed',
  async question(visit) {
    const { name } = await attributeOf(visit);
    const { users } = await affectedBy(visit.services, 'attribute', { id: name });
    const facts = [
      phrase('This erases the value for {users}. This cannot be undone.', { users: affectedCount(users, 'user') }),
      'The values are erased in the background. Until then the name cannot be used again.',
    ];
    return {
      ...{ title: phrase('Remove the attribute “{name}”?', { name }), name, crumbs: CRUMBS, cancel: HOME, facts, affected: users },
      execute: () => changeUserSchema(visit.services, new Map([[name, null]]), visit.request),
    };
  },
});

export const attributePages: readonly ConsolePage[] = [list, create, edit, remove];
