/** Security → Identity providers → Linked users: list, link manually, and unlink. */

import { z } from 'zod';
import { usersIn } from '../../pages/console/candidates.ts';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { text } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { findConsoleUser } from '../administrators/administrators.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { getLink, linkUser, listLinkedUsers, unlinkUser } from './identity-provider-links.service.ts';
import {
  IDENTITY_PROVIDER_CRUMBS,
  identityProviderCrumbs,
  identityProviderPath,
  identityProviderStatus,
  identityProviderTabs,
  providerIn,
} from './identity-provider-page.console.ts';
import { identityProviderTarget } from './identity-providers.service.ts';

const loginOf = async ({ services }: ConsoleRequest, userId: string): Promise<string> =>
  (await findConsoleUser(services, userId))?.login ?? userId;

const COLUMNS: ListColumns = [
  { label: 'User name', by: 'login', searched: true },
  { label: 'Name at provider', by: 'subject' },
  { label: 'Linked', by: 'created', descending: true },
];

const list: ConsolePage = {
  path: '/security/identity-providers/:id/users',
  access: 'service',
  async show(visit, typed) {
    const { services, query, request } = visit;
    const provider = await providerIn(visit);
    const { id, name } = provider;
    const at = `${identityProviderPath(id)}/users`;
    const { items, total } = await listLinkedUsers(services, id, pageIn(query, COLUMNS));
    const mayWrite = mayCall(request.roles, 'service', 'write');
    const link = { label: 'Link a user', href: `${at}/new` };
    return listPage({
      title: verbatim(name),
      status: identityProviderStatus(provider),
      lead: 'Linked users sign in with the provider, whichever e-mail address it sends.',
      crumbs: IDENTITY_PROVIDER_CRUMBS,
      tabs: identityProviderTabs(id),
      actions: mayWrite ? [{ ...link, main: true }] : [],
      list: {
        name: 'linked users',
        ...(mayWrite && { choosing: choosingAction(visit, at, typed, { kind: 'links', total }) }),
        rows: items.map(({ userId, login, subject, created }) => ({
          value: userId,
          cells: [
            { text: login, href: `/admin/users/${encodeURIComponent(userId)}` },
            { text: subject, code: true },
            { moment: momentOf(created) },
          ],
          actions: mayWrite ? [{ label: 'Unlink', href: `${at}/${encodeURIComponent(userId)}/unlink` }] : [],
        })),
        empty:
          'Nobody is linked yet. Users are linked when they sign in with the provider for the first time, as its settings allow, or by hand.',
        emptyAction: mayWrite ? link : undefined,
        ...paged(at, query, COLUMNS, { total }, 'user'),
        files: fileActions(at, query, total),
      },
    });
  },
  async receive(visit, form) {
    const { id: idpId } = await providerIn(visit);
    return draftForList(visit, form, {
      kind: 'links',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listLinkedUsers(visit.services, idpId, window)),
      rowOf: ({ userId, login }) => ({ name: login, item: { id: userId, userId, idpId } }),
    });
  },
  async download(visit) {
    const provider = await providerIn(visit);
    return downloadList(visit, {
      name: 'linked-users',
      columns: ['userId', 'login', 'subject', 'knownAs', 'created', 'lastUsed'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listLinkedUsers(visit.services, provider.id, window)),
      recordOf: (link) => ({ ...link }),
      of: identityProviderTarget(provider),
      hasUsers: true,
    });
  },
};

const EXTERNAL_ID: Field = {
  name: 'externalId',
  label: 'Name at provider',
  required: true,
  hint: 'The user’s ID at the provider: the claim “sub”, at GitHub the numeric ID. Not the e-mail address.',
};

const newLink = z.object({ login: text({ least: 1 }), externalId: text({ least: 1 }) });

const link: ConsolePage = {
  path: '/security/identity-providers/:id/users/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const provider = await providerIn(visit);
    const facts = ['The account there can then sign in as this user here. Make sure that both belong to the same person.'];
    const cancel = `${identityProviderPath(provider.id)}/users`;
    const fields = [await pickField(usersIn(visit), { name: 'login', label: 'User' }, typed), EXTERNAL_ID];
    return formPage({ title: 'Link a user', crumbs: identityProviderCrumbs(provider), facts, fields, submit: 'Link', cancel }, typed);
  },
  async receive(visit, form) {
    const { id } = await providerIn(visit);
    const { login, externalId } = readFields(newLink, form);
    const userId = (await pickedId(usersIn(visit), 'login', login)) ?? '';
    await linkUser(visit.services, id, userId, externalId, visit.request);
    return { goTo: `${identityProviderPath(id)}/users`, notice: 'idp-user-linked' };
  },
};

const unlink: ConsolePage = {
  path: '/security/identity-providers/:id/users/:userId/unlink',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const provider = await providerIn(visit);
    const { userId } = await getLink(visit.services, provider.id, visit.params.userId ?? '', visit.request);
    const facts = [
      phrase('This user can no longer sign in with {provider}. Without a password, there may be no other way to sign in.', {
        provider: provider.name,
      }),
      'At the next sign-in there the account is linked again, or a new one is created, if the provider’s settings say so.',
    ];
    const title = phrase('Unlink {value}?', { value: await loginOf(visit, userId) });
    const cancel = `${identityProviderPath(provider.id)}/users`;
    return formPage({ title, crumbs: identityProviderCrumbs(provider), facts, submit: 'Unlink', danger: true, cancel }, typed);
  },
  async receive({ services, params, request }) {
    const { id = '', userId = '' } = params;
    await unlinkUser(services, id, userId, request);
    return { goTo: `${identityProviderPath(id)}/users`, notice: 'idp-user-unlinked' };
  },
};

export const identityProviderUserPages: readonly ConsolePage[] = [list, link, unlink];
