/** Who is in a group, and which applications it opens. */

import { chosenIn } from '../../pages/console/choose-page.ts';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { present } from '../../platform/clock/clock.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { listGroupApplications } from '../applications/application-assignments.service.ts';
import { activityOf } from '../audit/activity.console.ts';
import { chooseUsers } from '../users/choose-users.console.ts';
import { statusAt } from '../users/user-lifecycle.policy.ts';
import { addressOfUser, nameOf } from '../users/user-page.console.ts';
import { userStatusPiece } from '../users/user-status.console.ts';
import { getUser } from '../users/users.service.ts';
import { GROUPS_PATH, groupOf, LEAVING_FACTS } from './group-page.console.ts';
import { addGroupMembers, findGroupMembers, listGroupMembers, removeGroupMember } from './groups.service.ts';

const members: ConsolePage = {
  path: '/groups/:id/members',
  access: 'service',
  async show(visit) {
    const { services, request, query } = visit;
    const { group, home, tabs } = await groupOf(visit);
    const { items, next } = await listGroupMembers(services, group.id, { limit: LIMIT, after: afterIn(query) });
    const isChangeable = mayCall(request.roles, 'service', 'write');
    const add = { label: 'Add members', href: `${home}/members/new`, main: true };
    const now = present();
    return listPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      actions: isChangeable ? [add] : [],
      list: {
        name: 'Members',
        columns: ['User name', 'Name', 'Status'],
        rows: items.map((user) => ({
          cells: [
            { text: user.login, href: addressOfUser(user.id) },
            nameOf(user) === user.login ? '' : nameOf(user),
            userStatusPiece(statusAt(user, now)),
          ],
          actions: isChangeable ? [{ label: 'Remove', href: `${home}/members/${encodeURIComponent(user.id)}/remove` }] : [],
        })),
        empty: 'No members yet.',
        emptyAction: isChangeable ? add : undefined,
        pager: pagerOf(`${home}/members`, query, next),
      },
    });
  },
};

const add: ConsolePage = {
  path: '/groups/:id/members/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { group, home, crumbs } = await groupOf(visit);
    const path = `${home}/members/new`;
    const taken = (userIds: readonly string[]) => findGroupMembers(visit.services, group.id, userIds);
    return chooseUsers(visit, { title: 'Add members', crumbs, path, submit: 'Add selected users', taken }, typed);
  },
  async receive(visit, form) {
    const { group, home } = await groupOf(visit);
    await addGroupMembers(visit.services, group.id, chosenIn(form), visit.request);
    return { goTo: `${home}/members`, notice: 'group-members-added' };
  },
};

const remove: ConsolePage = {
  path: '/groups/:id/members/:userId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { group, home, crumbs } = await groupOf(visit);
    const user = await getUser(visit.services, visit.params.userId ?? '', visit.request);
    const title = phrase('Remove {user} from “{group}”?', { user: nameOf(user), group: group.name });
    return formPage({ title, crumbs, facts: LEAVING_FACTS, submit: 'Remove member', danger: true, cancel: `${home}/members` }, typed);
  },
  async receive(visit) {
    const { group, home } = await groupOf(visit);
    await removeGroupMember(visit.services, group.id, visit.params.userId ?? '', visit.request);
    return { goTo: `${home}/members`, notice: 'group-member-removed' };
  },
};

const applications: ConsolePage = {
  path: '/groups/:id/applications',
  access: 'service',
  async show(visit) {
    const { group, home, tabs } = await groupOf(visit);
    const { items, next } = await listGroupApplications(visit.services, group.id, { limit: LIMIT, after: afterIn(visit.query) });
    return listPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      list: {
        name: 'Applications',
        columns: ['Application', 'Status'],
        rows: items.map(({ id, label, status }) => ({
          cells: [
            { text: label, href: `/admin/applications/${encodeURIComponent(id)}` },
            status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Not active', tone: 'plain' },
          ],
        })),
        empty: 'No applications assigned. Open an application to assign it.',
        emptyAction: { label: 'Applications', href: '/admin/applications' },
        pager: pagerOf(`${home}/applications`, visit.query, next),
      },
    });
  },
};

const activity: ConsolePage = {
  path: '/groups/:id/activity',
  access: 'service',
  async show(visit) {
    const { group, home, tabs } = await groupOf(visit);
    return detailPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      parts: [await activityOf(visit, group.id, `${home}/activity`)],
    });
  },
};

export const groupMembers: readonly ConsolePage[] = [members, add, remove, applications, activity];
