/** The scopes of an authorization server (RFC 6749 section 3.3): what applications can ask for, and whether the user is asked. */
import { z } from 'zod';
import type { Piece, TableRow } from '../../pages/console/detail-page.ts';
import { type Field, formPage, type Option, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { scopeFields } from '../authorization-servers/authorization-server-fields.service.ts';
import {
  crumbsBelow,
  type ServerSubject,
  serverPage,
  serverSubject,
  subjectWithParts,
} from '../authorization-servers/server-page.console.ts';
import type { Scope, ScopeConsent } from './scopes.resource.ts';
import {
  createServerScope,
  deleteServerScope,
  getServerScope,
  listServerScopes,
  type ScopeSettings,
  updateServerScope,
} from './scopes.service.ts';

const homeOf = ({ home }: ServerSubject): string => `${home}/scopes`;
const addressOf = (subject: ServerSubject, { id }: Scope): string => `${homeOf(subject)}/${encodeURIComponent(id)}`;
const crumbs = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Scopes', href: homeOf(subject) });

const CONSENTS: Readonly<Record<ScopeConsent, Piece>> = {
  IMPLICIT: { text: 'Not asked', soft: true },
  FLEXIBLE: { text: 'Asked where there is a user' },
  REQUIRED: { text: 'Required' },
};

const list: ConsolePage = {
  path: '/api/servers/:serverId/scopes',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { services, query } = visit;
    const q = (query.get('q') ?? '').trim();
    const isNarrowed = q !== '' && isPrintable(q);
    const window = { limit: LIMIT, after: afterIn(query) };
    const { items, next } = await listServerScopes(services, subject.server.id, isNarrowed ? q : undefined, window);
    const create = { label: 'Create scope', href: `${homeOf(subject)}/new`, main: true };
    return serverPage(subject, {
      lead: 'A scope is a right that an application asks for, e.g. to read orders. The API looks for it in the access token.',
      actions: subject.hasOwnParts ? [create] : [],
      parts: [
        {
          kind: 'table',
          name: 'Scopes',
          columns: ['Name', 'On the consent page', 'Consent', 'Asked for by default', 'In discovery'],
          rows: items.map((scope) => rowOf(subject, scope)),
          search: { label: 'The name begins with', q, isNarrowed },
          empty: 'No scope begins with this. Look for something else, or show all.',
          pager: pagerOf(homeOf(subject), query, next),
        },
      ],
    });
  },
};

function rowOf(subject: ServerSubject, scope: Scope): TableRow {
  const { name, displayName, consent, isDefault, metadataPublish, system } = scope;
  const remove = system ? [] : [{ label: 'Delete', href: `${addressOf(subject, scope)}/delete` }];
  return {
    cells: [
      { text: name, code: true },
      displayName,
      CONSENTS[consent],
      { text: isDefault ? 'Yes' : 'No', soft: !isDefault },
      { text: metadataPublish === 'ALL_CLIENTS' ? 'Yes' : 'No', soft: metadataPublish !== 'ALL_CLIENTS' },
    ],
    ...(mayEdit(subject, scope) && { actions: [{ label: 'Edit', href: addressOf(subject, scope) }, ...remove] }),
  };
}

/** Of the built-in server the consent alone, which openid does not have. */
const mayEdit = ({ isChangeable, isBuiltIn }: ServerSubject, { name }: Scope): boolean => isChangeable && !(isBuiltIn && name === 'openid');

const CONSENT_OPTIONS: readonly Option[] = [
  { value: 'IMPLICIT', label: 'Not asked', hint: 'Whoever may have a token gets it. For what is harmless, or for your own applications.' },
  {
    value: 'FLEXIBLE',
    label: 'Asked where there is a user',
    hint: 'A trusted application is not asked about. Where there is nobody to ask (client credentials, password) it is granted.',
  },
  {
    value: 'REQUIRED',
    label: 'Required',
    hint: 'As above, but where there is nobody to ask it is not granted; a trusted application gets it by the password grant.',
  },
];

/** @param now undefined: of a scope to be made */
function fieldsFor({ isBuiltIn }: ServerSubject, now: Scope | undefined): readonly Field[] {
  const name: Field = {
    name: 'name',
    label: 'Name',
    hint: 'What applications write in their requests, e.g. “orders:read”: printable ASCII characters without spaces.',
    required: true,
    value: now?.name,
  };
  const consent: Field = {
    name: 'consent',
    label: 'Consent of the user',
    kind: 'radios',
    value: now?.consent ?? 'IMPLICIT',
    options: CONSENT_OPTIONS,
  };
  if (isBuiltIn) return [consent];
  return [
    ...(now?.system === true ? [] : [name]),
    { name: 'displayName', label: 'Display name', hint: 'How the consent page calls it, e.g. “See your orders”.', value: now?.displayName },
    {
      name: 'description',
      label: 'Description',
      kind: 'description',
      hint: 'Stands below it on the consent page.',
      value: now?.description,
    },
    ...(now?.name === 'openid' ? [] : [consent]),
    {
      name: 'optional',
      label: 'The user may leave it out on the consent page',
      kind: 'check',
      hint: 'The application must then work without it.',
      checked: now?.optional,
    },
    {
      name: 'isDefault',
      label: 'Asked for by default',
      kind: 'check',
      hint: 'For requests that name no scope at all.',
      checked: now?.isDefault,
      alias: 'default',
    },
    {
      name: 'isPublished',
      label: 'Named in the discovery documents',
      kind: 'check',
      hint: 'Anybody can read them. A scope that they do not name can be asked for all the same.',
      checked: now === undefined || now.metadataPublish === 'ALL_CLIENTS',
      alias: 'metadataPublish',
    },
  ];
}

const scopeForm = z.object({
  name: scopeFields.name.trim(),
  displayName: scopeFields.displayName,
  description: scopeFields.description,
  consent: scopeFields.consent,
  optional: z.boolean(),
  isDefault: z.boolean(),
  isPublished: z.boolean(),
});

/** @throws {ApiError} validation */
function settingsIn(subject: ServerSubject, form: URLSearchParams, now: Scope | undefined): ScopeSettings {
  const kept = now && { ...now, isPublished: now.metadataPublish === 'ALL_CLIENTS' };
  const { isPublished, ...settings } = parse(scopeForm, { ...kept, ...typedValues(fieldsFor(subject, now), form) });
  return { ...settings, metadataPublish: isPublished ? 'ALL_CLIENTS' : 'NO_CLIENTS' };
}

const create: ConsolePage = {
  path: '/api/servers/:serverId/scopes/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const title = 'Create scope';
    return formPage(
      { title, crumbs: crumbs(subject), fields: fieldsFor(subject, undefined), submit: title, cancel: homeOf(subject) },
      typed,
    );
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    await createServerScope(visit.services, subject.server.id, settingsIn(subject, form, undefined), visit.request);
    return { goTo: homeOf(subject), notice: 'scope-created' };
  },
};

const scopeOf = ({ services, params }: ConsoleRequest, { server }: ServerSubject): Promise<Scope> =>
  getServerScope(services, server.id, params.scopeId ?? '');

/** @throws {ApiError} wrong state */
function requireEditable(subject: ServerSubject, scope: Scope): void {
  if (!mayEdit(subject, scope)) throw wrongState('The built-in authorization server keeps its scope openid as it is.');
}

const edit: ConsolePage = {
  path: '/api/servers/:serverId/scopes/:scopeId',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const scope = await scopeOf(visit, subject);
    requireEditable(subject, scope);
    const facts = subject.isBuiltIn
      ? ['Of a scope of the built-in authorization server only the consent can be changed.']
      : scope.system
        ? ['This is a standard scope: it keeps its name.']
        : ['With another name it is another scope: what users allowed under the old one does not count for it.'];
    const page = { title: `Scope ${scope.name}`, crumbs: crumbs(subject), facts, fields: fieldsFor(subject, scope) };
    return formPage({ ...page, submit: 'Save', cancel: homeOf(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await serverSubject(visit);
    const scope = await scopeOf(visit, subject);
    requireEditable(subject, scope);
    await updateServerScope(visit.services, subject.server.id, scope.id, settingsIn(subject, form, scope), visit.request);
    return { goTo: homeOf(subject), notice: 'scope-changed' };
  },
};

const remove: ConsolePage = {
  path: '/api/servers/:serverId/scopes/:scopeId/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const { name } = await scopeOf(visit, subject);
    const facts = [
      'Requests for it are refused from now on (invalid_scope), and what users allowed of it is forgotten. Tokens that are out keep it until they expire.',
      'Claims and rules whose conditions name it must be changed first.',
      'This cannot be undone.',
    ];
    const page = { title: `Delete the scope “${name}”?`, crumbs: crumbs(subject), facts };
    return formPage({ ...page, submit: 'Delete scope', danger: true, cancel: homeOf(subject) }, typed);
  },
  async receive(visit) {
    const subject = await subjectWithParts(visit);
    await deleteServerScope(visit.services, subject.server.id, visit.params.scopeId ?? '', visit.request);
    return { goTo: homeOf(subject), notice: 'scope-deleted' };
  },
};

export const serverScopes: readonly ConsolePage[] = [list, create, edit, remove];
