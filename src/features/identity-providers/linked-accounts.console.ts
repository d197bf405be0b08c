/** Links of a user to external identity providers; remove a link. */

import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { addressOfUser, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { getLink, listUserLinks, unlinkUser } from './identity-provider-links.service.ts';
import { getIdentityProvider } from './identity-providers.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/linked-accounts`;

const COLUMNS: ListColumns = [
  { label: 'Identity provider', by: 'name', searched: true },
  { label: 'Name at provider', by: 'knownAs', searched: true },
  { label: 'Subject', by: 'subject' },
  { label: 'Since', by: 'created', descending: true, isFirst: true },
  { label: 'Last used', by: 'lastUsed', descending: true },
];

const list: ConsolePage = {
  path: '/users/:id/linked-accounts',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = await listUserLinks(services, subject.user.id, pageIn(query, COLUMNS), request);
    const isChangeable = mayCall(request.roles, 'service', 'write');
    return userPage(visit, subject, [
      {
        kind: 'table',
        name: 'Linked accounts',
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'links', total }) }),
        rows: items.map(({ idpId, name, knownAs, subject: called, created, lastUsed }) => ({
          value: idpId,
          cells: [
            name,
            knownAs ?? '',
            { text: called, code: true },
            { moment: momentOf(created) },
            lastUsed === null ? { text: 'Not yet', soft: true } : { moment: momentOf(lastUsed) },
          ],
          actions: isChangeable ? [{ label: 'Remove', href: `${home}/${encodeURIComponent(idpId)}/remove` }] : [],
        })),
        empty: 'No linked accounts. An account is linked at the first sign-in with an identity provider, as its settings say.',
        ...paged(home, query, COLUMNS, { total }, 'linked account'),
        files: fileActions(home, query, total),
      },
    ]);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    return draftForList(visit, form, {
      kind: 'links',
      pieces: linksOf(visit, user.id),
      rowOf: ({ idpId, name }) => ({ name: `${user.login}, ${name}`, item: { id: idpId, idpId, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'linked-accounts',
      columns: ['idpId', 'name', 'subject', 'knownAs', 'created', 'lastUsed'],
      pieces: linksOf(visit, user.id),
      recordOf: (link) => ({ ...link }),
      of: userTarget(user),
    });
  },
};

const linksOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, (window) => listUserLinks(services, userId, window, request));

const remove: ConsolePage = {
  path: '/users/:id/linked-accounts/:idpId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await userSubject(visit);
    const { name, id } = await getIdentityProvider(visit.services, visit.params.idpId ?? '');
    const { subject } = await getLink(visit.services, id, user.id, visit.request);
    const title = phrase('Remove the link to “{name}”?', { name });
    const facts = [
      phrase('The account “{subject}” there can no longer sign in as this user here.', { subject }),
      'The account itself stays; without a password there may be no way left to sign in.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Remove link', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await unlinkUser(visit.services, visit.params.idpId ?? '', user.id, visit.request);
    return { goTo: homeOf(user.id), notice: 'link-removed' };
  },
};

export const linkedAccounts: readonly ConsolePage[] = [list, remove];
