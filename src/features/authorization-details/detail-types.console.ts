/** The types of authorization details of an authorization server (RFC 9396): a list beside the scopes, and the pages of one. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import type { TablePart } from '../../pages/console/detail-page.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formValues, settingFields } from '../../pages/console/settings-form.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { crumbsBelow, type ServerSubject, serverSubject, subjectWithParts } from '../authorization-servers/server-page.console.ts';
import { TRANSLATED } from '../scopes/scopes.resource.ts';
import { DETAIL_TYPE_SETTINGS, type DetailType, type DetailTypeSettings } from './detail-types.resource.ts';
import {
  createServerDetailType,
  deleteServerDetailType,
  getServerDetailType,
  listServerDetailTypes,
  updateServerDetailType,
} from './detail-types.service.ts';

/** Maximum number per server. */
const ALL = 100;
const NAMES = ['name', 'displayName', 'template', 'rememberConsent'] as const;

const scopesOf = ({ home }: ServerSubject): string => `${home}/scopes`;
const homeOf = ({ home }: ServerSubject): string => `${home}/details`;
const addressOf = (subject: ServerSubject, { id }: DetailType): string => `${homeOf(subject)}/${encodeURIComponent(id)}`;
const crumbs = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Scopes', href: scopesOf(subject) });

/** The section on the page of the scopes. */
export async function detailTypesPart({ services }: ConsoleRequest, subject: ServerSubject): Promise<TablePart> {
  const { items } = await listServerDetailTypes(services, subject.server.id, undefined, { limit: ALL, after: undefined });
  return {
    kind: 'table',
    title: 'Authorization details',
    lead: 'A type describes what an application can request in detail, e.g. one payment. Users see the details on the consent page, the API reads them in the access token.',
    name: 'Authorization detail types',
    columns: ['Name', 'On the consent page', 'Remember consent'],
    rows: items.map((type) => ({
      cells: [
        { text: type.name, code: true },
        [{ text: type.displayName }, { text: type.template, soft: true }],
        { text: phrase(type.rememberConsent ? 'Yes' : 'No'), soft: !type.rememberConsent },
      ],
      ...(subject.isChangeable && {
        actions: [
          { label: 'Edit', href: addressOf(subject, type), icon: 'edit' as const },
          { label: 'Delete', href: `${addressOf(subject, type)}/delete` },
        ],
      }),
    })),
    empty: 'No authorization detail types. Most servers need none: scopes are enough.',
    ...(subject.hasOwnParts && { actions: [{ label: 'Create authorization detail type', href: `${homeOf(subject)}/new` }] }),
  };
}

const fieldsFor = (now: DetailType | undefined): Field[] => [
  ...settingFields(DETAIL_TYPE_SETTINGS, NAMES, now),
  {
    kind: 'long',
    name: 'schema',
    label: 'JSON Schema',
    hint: 'Draft 2020-12, of the whole object with its field “type”. Requests that do not match it are refused.',
    rows: 12,
    value: JSON.stringify(now?.schema ?? DETAIL_TYPE_SETTINGS.schema.initial, null, 2),
  },
  ...TRANSLATED.flatMap(({ lang, name }): Field[] => {
    const own = now?.translations[lang];
    const common = { group: phrase('On pages in {language}', { language: name }), advanced: true };
    return [
      { ...common, name: `displayName.${lang}`, alias: `translations.${lang}.displayName`, label: 'Display name', value: own?.displayName },
      {
        ...common,
        name: `template.${lang}`,
        alias: `translations.${lang}.template`,
        kind: 'description',
        label: 'Sentence for users',
        value: own?.template,
      },
    ];
  }),
];

/** @throws {ApiError} validation */
function settingsOf(form: URLSearchParams, now: DetailType | undefined): DetailTypeSettings {
  const typed = (field: 'displayName' | 'template', lang: string) => {
    const text = (form.get(`${field}.${lang}`) ?? '').trim();
    return text === '' ? {} : { [field]: text };
  };
  const texts = TRANSLATED.map(({ lang }) => [lang, { ...typed('displayName', lang), ...typed('template', lang) }] as const);
  const translations = Object.fromEntries(texts.filter(([, own]) => Object.keys(own).length > 0));
  return formValues(DETAIL_TYPE_SETTINGS, NAMES, form, { ...now, translations, schema: schemaIn(form.get('schema') ?? '') });
}

function schemaIn(typed: string): DetailTypeSettings['schema'] {
  try {
    const schema: unknown = JSON.parse(typed);
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as DetailTypeSettings['schema'];
  } catch {
    // Reported below.
  }
  throw validation([{ field: 'schema', message: 'must be a JSON object' }]);
}

const typeOf = ({ services, params }: ConsoleRequest, { server }: ServerSubject): Promise<DetailType> =>
  getServerDetailType(services, server.id, params.typeId ?? '');

const create: ConsolePage = {
  path: '/api/servers/:serverId/details/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const title = 'Create authorization detail type';
    const facts = ['Afterwards, name the type in the settings of each application that may use it.'];
    return formPage(
      { title, crumbs: crumbs(subject), facts, fields: fieldsFor(undefined), submit: title, cancel: scopesOf(subject) },
      typed,
    );
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    await createServerDetailType(visit.services, subject.server.id, settingsOf(form, undefined), visit.request);
    return { goTo: scopesOf(subject), notice: 'detail-type-created' };
  },
};

const edit: ConsolePage = {
  path: '/api/servers/:serverId/details/:typeId',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const type = await typeOf(visit, subject);
    const title = phrase('Authorization detail type {name}', { name: type.name });
    const facts = ['A new name makes a new type. Consents for the old name are deleted.'];
    return formPage({ title, crumbs: crumbs(subject), facts, fields: fieldsFor(type), submit: 'Save', cancel: scopesOf(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await serverSubject(visit);
    const type = await typeOf(visit, subject);
    await updateServerDetailType(visit.services, subject.server.id, type.id, settingsOf(form, type), visit.request);
    return { goTo: scopesOf(subject), notice: 'detail-type-changed' };
  },
};

const remove = confirmedStep({
  path: '/api/servers/:serverId/details/:typeId/delete',
  access: 'service',
  submit: 'Delete authorization detail type',
  danger: true,
  notice: 'detail-type-deleted',
  async question(visit) {
    const subject = await subjectWithParts(visit);
    const { name } = await typeOf(visit, subject);
    const { consents } = await affectedBy(visit.services, 'detailType', { serverId: subject.server.id, id: name });
    const facts = [
      phrase(
        'This deletes {consents}. Requests for the type are refused from now on (invalid_authorization_details). Issued tokens keep it until they expire.',
        { consents: affectedCount(consents, 'consent') },
      ),
      'This cannot be undone.',
    ];
    return {
      ...{
        title: phrase('Delete the authorization detail type “{name}”?', { name }),
        name,
        crumbs: crumbs(subject),
        cancel: scopesOf(subject),
      },
      ...{ facts, affected: consents },
      execute: () => deleteServerDetailType(visit.services, subject.server.id, visit.params.typeId ?? '', visit.request),
    };
  },
});

export const serverDetailTypes: readonly ConsolePage[] = [create, edit, remove];
