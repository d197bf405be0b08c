/** Scopes of an authorization server (RFC 6749 section 3.3), with consent settings. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import type { TableRow } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import { countOf, type ListColumns, searched } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { formValues, settingFields } from '../../pages/console/settings-form.ts';
import type { Window } from '../../platform/database/paging.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { type Phrase, phrase, series } from '../../platform/i18n/phrase.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { consentCounts } from '../applications/application-lists.service.ts';
import { detailTypesPart } from '../authorization-details/detail-types.console.ts';
import {
  crumbsBelow,
  type ServerSubject,
  serverPage,
  serverSubject,
  subjectWithParts,
} from '../authorization-servers/server-page.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { SCOPE_SETTINGS, type Scope, type ScopeSettings, TRANSLATED } from './scopes.resource.ts';
import { createServerScope, deleteServerScope, getServerScope, listServerScopes, scopeUses, updateServerScope } from './scopes.service.ts';

const homeOf = ({ home }: ServerSubject): string => `${home}/scopes`;
const addressOf = (subject: ServerSubject, { id }: Scope): string => `${homeOf(subject)}/${encodeURIComponent(id)}`;
const crumbs = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Scopes', href: homeOf(subject) });

const CONSENT_LABELS = new Map<string, string>(SCOPE_SETTINGS.consent.options.map(({ value, label }) => [value, label]));

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name' },
  { label: 'On the consent page', by: 'displayName' },
  { label: 'Consent', by: 'consent', codes: [...CONSENT_LABELS.keys()] },
  { label: 'Asked for by default', by: 'isDefault', descending: true },
  { label: 'In discovery', by: 'metadataPublish' },
];

const found = ({ services, query }: ConsoleRequest, serverId: string, window: Window) =>
  searched(query, (q) => listServerScopes(services, serverId, q, window));

const list: ConsolePage = {
  path: '/api/servers/:serverId/scopes',
  access: 'service',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const { query } = visit;
    const { search, items, total } = await found(visit, subject.server.id, pageIn(query, COLUMNS));
    const create = { label: 'Create scope', href: `${homeOf(subject)}/new`, main: true };
    return serverPage(subject, {
      lead: 'A scope is a permission that an application requests, e.g. to read orders. The API checks it in the access token.',
      actions: subject.hasOwnParts ? [create] : [],
      parts: [
        {
          kind: 'table',
          name: 'Scopes',
          ...(subject.hasOwnParts && { choosing: choosingAction(visit, homeOf(subject), typed, { kind: 'scopes', total }) }),
          rows: items.map((scope) => rowOf(subject, scope)),
          search: { ...search, label: 'Search' },
          empty: 'No scopes match. Try other words, or show all.',
          ...paged(homeOf(subject), query, COLUMNS, { total }, 'scope'),
          files: fileActions(homeOf(subject), query, total),
        },
        ...(subject.isBuiltIn ? [] : [await detailTypesPart(visit, subject)]),
      ],
    });
  },
  async receive(visit, form) {
    const { server } = await subjectWithParts(visit);
    return draftForList(visit, form, {
      kind: 'scopes',
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, server.id, window)),
      rowOf: ({ id, name }) => ({ name, item: { id, serverId: server.id } }),
    });
  },
  async download(visit) {
    const { server } = await serverSubject(visit);
    return downloadList(visit, {
      name: 'scopes',
      columns: ['id', 'name', 'displayName', 'description', 'consent', 'isDefault', 'metadataPublish', 'system'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, server.id, window)),
      recordOf: (scope) => ({ ...scope }),
      of: { id: server.id, type: 'AuthorizationServer', displayName: server.name },
    });
  },
};

function rowOf(subject: ServerSubject, scope: Scope): TableRow {
  const { name, displayName, consent, isDefault, metadataPublish, system } = scope;
  const remove = system ? [] : [{ label: 'Delete', href: `${addressOf(subject, scope)}/delete` }];
  return {
    ...(!system && { value: scope.id }),
    cells: [
      { text: name, code: true },
      displayName,
      { text: CONSENT_LABELS.get(consent) ?? consent, soft: consent === 'IMPLICIT' },
      { text: phrase(isDefault ? 'Yes' : 'No'), soft: !isDefault },
      { text: phrase(metadataPublish === 'ALL_CLIENTS' ? 'Yes' : 'No'), soft: metadataPublish !== 'ALL_CLIENTS' },
    ],
    ...(mayEdit(subject, scope) && { actions: [{ label: 'Edit', href: addressOf(subject, scope), icon: 'edit' }, ...remove] }),
  };
}

/** For the built-in server only consent and translations are editable; for openid neither. */
const mayEdit = ({ isChangeable, isBuiltIn }: ServerSubject, { name }: Scope): boolean => isChangeable && !(isBuiltIn && name === 'openid');

/** Editable fields of a scope. @param now undefined: a new scope */
function namesOf({ isBuiltIn }: ServerSubject, now: Scope | undefined): (keyof ScopeSettings)[] {
  if (isBuiltIn) return ['consent'];
  const names: (keyof ScopeSettings)[] = ['name', 'displayName', 'description', 'consent', 'optional', 'isDefault', 'metadataPublish'];
  return names.filter((name) => !(name === 'name' && now?.system === true) && !(name === 'consent' && now?.name === 'openid'));
}

/** Trusted applications need no consent, whatever the scope's setting. */
async function consentFact({ services }: ConsoleRequest): Promise<Phrase> {
  const { asking, all } = await consentCounts(services);
  return phrase(
    'Consent is asked for in {asking} of {all}. The others are trusted (first-party): they never ask. The settings of an application say which it is.',
    { asking, all: countOf(all, 'application') },
  );
}

const fieldsFor = (subject: ServerSubject, now: Scope | undefined) => [
  ...settingFields(SCOPE_SETTINGS, namesOf(subject, now), now),
  ...translationFields(now),
];

/** The texts of the consent page in each language; empty: as above. */
const translationFields = (now: Scope | undefined): Field[] =>
  TRANSLATED.flatMap(({ lang, name }): Field[] => {
    const own = now?.translations[lang];
    const common = { group: phrase('On pages in {language}', { language: name }), advanced: true };
    return [
      { ...common, name: `displayName.${lang}`, alias: `translations.${lang}.displayName`, label: 'Display name', value: own?.displayName },
      {
        ...common,
        name: `description.${lang}`,
        alias: `translations.${lang}.description`,
        kind: 'description',
        label: 'Description',
        value: own?.description,
      },
    ];
  });

function translationsIn(form: URLSearchParams): ScopeSettings['translations'] {
  const typed = (field: 'displayName' | 'description', lang: string) => {
    const text = (form.get(`${field}.${lang}`) ?? '').trim();
    return text === '' ? {} : { [field]: text };
  };
  const texts = TRANSLATED.map(({ lang }) => [lang, { ...typed('displayName', lang), ...typed('description', lang) }] as const);
  return Object.fromEntries(texts.filter(([, own]) => Object.keys(own).length > 0));
}

/** @throws {ApiError} validation */
const settingsOf = (subject: ServerSubject, form: URLSearchParams, now: Scope | undefined): ScopeSettings =>
  formValues(SCOPE_SETTINGS, namesOf(subject, now), form, { ...now, translations: translationsIn(form) });

const create: ConsolePage = {
  path: '/api/servers/:serverId/scopes/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const title = 'Create scope';
    return formPage(
      {
        title,
        crumbs: crumbs(subject),
        facts: [await consentFact(visit)],
        fields: fieldsFor(subject, undefined),
        submit: title,
        cancel: homeOf(subject),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    await createServerScope(visit.services, subject.server.id, settingsOf(subject, form, undefined), visit.request);
    return { goTo: homeOf(subject), notice: 'scope-created' };
  },
};

const scopeOf = ({ services, params }: ConsoleRequest, { server }: ServerSubject): Promise<Scope> =>
  getServerScope(services, server.id, params.scopeId ?? '');

/** @throws {ApiError} wrong state */
function requireEditable(subject: ServerSubject, scope: Scope): void {
  if (!mayEdit(subject, scope)) throw wrongState('the scope openid of the built-in authorization server cannot be changed');
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
      ? ['You can change only the consent and the translations of a scope of the built-in authorization server.']
      : scope.system
        ? ['This is a standard scope: it keeps its name.']
        : ['A new name makes a new scope. Consents for the old name do not apply to it.'];
    const page = {
      title: phrase('Scope {scope}', { scope: scope.name }),
      crumbs: crumbs(subject),
      facts: [...facts, await consentFact(visit)],
      fields: fieldsFor(subject, scope),
    };
    return formPage({ ...page, submit: 'Save', cancel: homeOf(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await serverSubject(visit);
    const scope = await scopeOf(visit, subject);
    requireEditable(subject, scope);
    await updateServerScope(visit.services, subject.server.id, scope.id, settingsOf(subject, form, scope), visit.request);
    return { goTo: homeOf(subject), notice: 'scope-changed' };
  },
};

const remove = confirmedStep({
  path: '/api/servers/:serverId/scopes/:scopeId/delete',
  access: 'service',
  submit: 'Delete scope',
  danger: true,
  notice: 'scope-deleted',
  async question(visit) {
    const subject = await subjectWithParts(visit);
    const { id, name } = await scopeOf(visit, subject);
    const { consents } = await affectedBy(visit.services, 'scope', { serverId: subject.server.id, id });
    const uses = await scopeUses(visit.services, subject.server.id, name);
    const facts = [
      phrase(
        'This deletes {consents}. Requests for the scope are refused from now on (invalid_scope). Issued tokens keep it until they expire.',
        {
          consents: affectedCount(consents, 'consent'),
        },
      ),
      uses.claims.length + uses.rules.length === 0
        ? 'No claim and no access rule names it.'
        : phrase('It is used by {claims} and {rules}: {names}. Remove it there first.', {
            claims: countOf(uses.claims.length, 'claim'),
            rules: countOf(uses.rules.length, 'rule'),
            names: series([...uses.claims, ...uses.rules]),
          }),
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete the scope “{name}”?', { name }), name, crumbs: crumbs(subject), cancel: homeOf(subject) },
      ...{ facts, affected: consents },
      execute: () => deleteServerScope(visit.services, subject.server.id, visit.params.scopeId ?? '', visit.request),
    };
  },
});

export const serverScopes: readonly ConsolePage[] = [list, create, edit, remove];
