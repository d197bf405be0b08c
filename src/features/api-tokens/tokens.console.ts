/** API → Token: the tokens of the management API and of SCIM. The value of a new one is shown once, in the response to its form. */

import { z } from 'zod';
import { organizationsIn } from '../../pages/console/candidates.ts';
import { type Content, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, type Option, readFields } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { present } from '../../platform/clock/clock.ts';
import { forbidden, validation } from '../../platform/errors/errors.ts';
import { phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { mayCall, reachOf, type Verb } from '../administrators/administration.policy.ts';
import { findConsoleUser } from '../administrators/administrators.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { API_TOKEN_TYPES, type ApiToken } from './api-tokens.resource.ts';
import { apiTokenName, createApiToken, getApiToken, listApiTokens, revokeApiToken } from './api-tokens.service.ts';

const HOME = '/admin/api/tokens';
const DAY_MS = 86_400_000;
const CRUMBS = [{ label: 'API' }, { label: 'Tokens', href: HOME }];

const seesAll = ({ request }: ConsoleRequest, verb: Verb): boolean => reachOf(request.roles, verb) === 'everything';
const mayRevoke = (visit: ConsoleRequest, { userId }: ApiToken): boolean => userId === visit.person.id || seesAll(visit, 'write');

/** User names by user ID. */
async function ownersOf(visit: ConsoleRequest, tokens: readonly ApiToken[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(tokens.map(({ userId }) => userId))];
  return new Map(await Promise.all(ids.map(async (id) => [id, (await findConsoleUser(visit.services, id))?.login ?? id] as const)));
}

/** Type of each token in words, by token ID. */
async function typesOf(visit: ConsoleRequest, tokens: readonly ApiToken[]): Promise<ReadonlyMap<string, Text>> {
  const organizations = organizationsIn(visit);
  const typeOf = async ({ type, orgId }: ApiToken): Promise<Text> => {
    if (type === 'API') return verbatim('API');
    if (orgId === null) return phrase('SCIM: the whole service');
    return phrase('SCIM: {organization}', { organization: (await organizations.byId(orgId))?.label ?? orgId });
  };
  return new Map(await Promise.all(tokens.map(async (token) => [token.id, await typeOf(token)] as const)));
}

const columnsOf = (withOwners: boolean): ListColumns => [
  { label: 'Name', by: 'name', searched: true },
  { label: 'Type', by: 'type', codes: API_TOKEN_TYPES },
  ...(withOwners ? ['Owner'] : []),
  { label: 'Created', by: 'created', descending: true },
  { label: 'Expires', by: 'expiresAt', descending: true },
  { label: 'Last used', by: 'lastUsed', descending: true },
];

const list: ConsolePage = {
  path: '/api/tokens',
  access: 'own',
  async show(visit, typed) {
    const withOwners = seesAll(visit, 'read');
    const columns = columnsOf(withOwners);
    const { items, total } = await listApiTokens(visit.services, pageIn(visit.query, columns), visit.request);
    const owners = withOwners ? await ownersOf(visit, items) : undefined;
    const types = await typesOf(visit, items);
    const create = { label: 'Create token', href: `${HOME}/new`, main: true };
    return listPage({
      title: 'Tokens',
      lead: "API tokens authenticate calls to the management API, SCIM tokens the provisioning of users. A token has its owner's permissions and stops working when the owner loses them.",
      crumbs: [{ label: 'API' }],
      actions: [create],
      list: {
        name: 'Tokens',
        ...(mayCall(visit.request.roles, 'organizations', 'write') && {
          choosing: choosingAction(visit, HOME, typed, { kind: 'tokens', total }),
        }),
        rows: items.map((token) => ({
          ...(mayRevoke(visit, token) && { value: token.id }),
          cells: [
            token.name,
            types.get(token.id) ?? '',
            ...(owners === undefined ? [] : [owners.get(token.userId) ?? token.userId]),
            { moment: momentOf(token.created) },
            expiryOf(token),
            token.lastUsed === null ? phrase('Not yet') : { moment: momentOf(token.lastUsed) },
          ],
          actions: mayRevoke(visit, token) ? [{ label: 'Revoke', href: `${HOME}/${token.id}/revoke` }] : [],
        })),
        empty:
          'There is no token yet. Create one, and use it in scripts and tools that call the management API, or in a directory that provisions users by SCIM.',
        ...paged(HOME, visit.query, columns, { total }, 'token'),
        files: fileActions(HOME, visit.query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'tokens',
      pieces: piecesOf(visit.query, columnsOf(true), (window) => listApiTokens(visit.services, window, visit.request)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'api-tokens',
      columns: ['id', 'name', 'type', 'orgId', 'userId', 'created', 'expiresAt', 'lastUsed'],
      pieces: piecesOf(visit.query, columnsOf(true), (window) => listApiTokens(visit.services, window, visit.request)),
      recordOf: (token) => ({ ...token }),
    }),
};

function expiryOf({ expiresAt }: ApiToken): Content {
  if (expiresAt === null) return phrase('Never');
  const moment = momentOf(expiresAt);
  return expiresAt <= present() ? [{ moment }, { text: 'expired', tone: 'plain' }] : { moment };
}

const EXPIRIES: readonly Option[] = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In one year' },
  { value: 'never', label: 'Never' },
];

/** Administrators of single organizations must choose one for a SCIM token. */
const fieldsFor = async (visit: ConsoleRequest, typed: Typed): Promise<readonly Field[]> => [
  {
    name: 'name',
    label: 'Name',
    hint: 'The purpose of the token, e.g. “Nightly import”.',
    required: true,
  },
  {
    name: 'type',
    label: 'Type',
    kind: 'radios',
    value: 'API',
    options: [
      { value: 'API', label: 'API', hint: 'For scripts and tools that call the management API.' },
      {
        value: 'SCIM',
        label: 'SCIM',
        hint: 'For a directory such as Microsoft Entra ID or Okta that provisions users. It opens /scim/v2 alone.',
      },
    ],
  },
  await pickField(
    organizationsIn(visit),
    {
      name: 'orgId',
      label: 'Organization',
      when: { field: 'type', value: 'SCIM' },
      hint: 'The token reads and changes its members alone.',
      ...(seesAll(visit, 'write') && { none: 'The whole service' }),
    },
    typed,
  ),
  { name: 'expires', label: 'Expires', options: EXPIRIES, value: '90', alias: 'expiresAt' },
];

const newToken = z.object({
  name: apiTokenName,
  type: z.enum(API_TOKEN_TYPES).default('API'),
  expires: z.enum(['30', '90', '365', 'never']),
});

type Wanted = z.output<typeof newToken> & { readonly orgId?: string | undefined };

/** @throws {ApiError} validation of the organization */
async function organizationOf(visit: ConsoleRequest, type: Wanted['type'], form: URLSearchParams): Promise<string | undefined> {
  if (type === 'API') return undefined;
  const orgId = await pickedId(organizationsIn(visit), 'orgId', form.get('orgId') ?? '');
  if (orgId === undefined && !seesAll(visit, 'write')) throw validation([{ field: 'orgId', message: 'is required' }]);
  return orgId;
}

const create: ConsolePage = {
  path: '/api/tokens/new',
  needsFreshSignIn: true,
  access: 'own',
  verb: 'write',
  async show(visit, typed) {
    const submit = 'Create token';
    return formPage(
      { title: submit, crumbs: CRUMBS, fields: await fieldsFor(visit, typed), hidden: formKey(), submit, cancel: HOME },
      typed,
    );
  },
  async receive(visit, form) {
    const given = readFields(newToken, form);
    const wanted: Wanted = { ...given, orgId: await organizationOf(visit, given.type, form) };
    return tokenCreated(visit, await submitOnce(visit, form, [HOME, wanted], (services) => createWanted({ ...visit, services }, wanted)));
  },
};

/** Result of the form, in a form that can be stored for repeated submissions. */
interface CreatedToken {
  readonly name: string;
  readonly type: Wanted['type'];
  readonly value: string;
  /** ISO 8601; null: never. */
  readonly expires: string | null;
}

async function createWanted({ services, person, request }: ConsoleRequest, { name, type, orgId, expires }: Wanted): Promise<CreatedToken> {
  const expiresAt = expires === 'never' ? undefined : new Date(present().getTime() + Number(expires) * DAY_MS);
  const { apiToken, value } = await createApiToken(services, { name, type, orgId, userId: person.id, expiresAt }, request);
  return { name: apiToken.name, type, value, expires: apiToken.expiresAt?.toISOString() ?? null };
}

function tokenCreated({ services: { config } }: ConsoleRequest, { name, type, value, expires }: CreatedToken): Drawn {
  const isScim = type === 'SCIM';
  return {
    view: 'token-created',
    title: 'Token created',
    lead: 'Copy it now. It is shown only once and cannot be read later.',
    crumbs: CRUMBS,
    scripts: ['copy.js'],
    locals: {
      name,
      value,
      expires: expires === null ? null : momentOf(new Date(expires)),
      use: isScim
        ? 'Enter it in the directory as the secret or bearer token. Its address of the service is this one:'
        : 'Send it with every call, in the header Authorization:',
      example: isScim
        ? `${config.baseUrl}/scim/v2`
        : `curl '${config.baseUrl}/api/v1/account/org' \\
  -H 'Authorization: SSWS ${value}' \\
  -H 'Accept: application/json'`,
      home: HOME,
    },
  };
}

const revoke: ConsolePage = {
  path: '/api/tokens/:id/revoke',
  access: 'own',
  verb: 'write',
  async show(visit, typed) {
    const token = await getApiToken(visit.services, visit.params.id ?? '', visit.request);
    if (!mayRevoke(visit, token)) throw forbidden();
    const title = phrase('Revoke “{token}”?', { token: token.name });
    const facts = ['Calls with this token are refused from now on.', 'This cannot be undone.'];
    return formPage({ title, crumbs: CRUMBS, facts, submit: 'Revoke token', danger: true, cancel: HOME }, typed);
  },
  async receive({ services, params, request }) {
    await revokeApiToken(services, params.id ?? '', request);
    return { goTo: HOME, notice: 'token-revoked' };
  },
};

export const tokenPages: readonly ConsolePage[] = [list, create, revoke];
