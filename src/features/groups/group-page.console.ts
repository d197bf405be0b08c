/** Shared by all pages of a group. */

import { affectedCount } from '../../pages/console/confirmation-page.ts';
import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import type { Group } from './groups.resource.ts';
import { getGroup } from './groups.service.ts';

export const GROUPS_HOME = '/admin/groups';
export const GROUPS_PATH: readonly Crumb[] = [{ label: 'Groups', href: GROUPS_HOME }];

/** The consequences for a user who is removed from a group. */
export async function removalFacts({ services }: ConsoleRequest, groupId: string, userId: string): Promise<readonly Text[]> {
  const { applications } = await affectedBy(services, 'groupMember', { id: groupId, userId });
  return [
    phrase('From the next sign-in, the user loses {applications} and other access that only this group gives. The account itself stays.', {
      applications: affectedCount(applications, 'application'),
    }),
  ];
}

export const addressOfGroup = (id: string): string => `${GROUPS_HOME}/${encodeURIComponent(id)}`;

export interface GroupInSight {
  readonly group: Group;
  readonly home: string;
  /** Breadcrumbs of the pages below the group's page. */
  readonly crumbs: readonly Crumb[];
  readonly tabs: readonly Action[];
  /** Actions on the group that the caller may carry out. */
  readonly steps: readonly Action[];
}

/** @throws {ApiError} not found */
export async function groupOf({ services, params, request }: ConsoleRequest): Promise<GroupInSight> {
  const group = await getGroup(services, params.id ?? '');
  const home = addressOfGroup(group.id);
  return {
    group,
    home,
    crumbs: [...GROUPS_PATH, { label: verbatim(group.name), href: home }],
    tabs: [
      { label: 'Group', href: home },
      { label: 'Members', href: `${home}/members` },
      { label: 'Applications', href: `${home}/applications` },
      { label: 'Activity', href: `${home}/activity` },
    ],
    steps: mayCall(request.roles, 'service', 'write')
      ? [
          { label: 'Edit', href: `${home}/edit`, main: true },
          { label: 'Delete', href: `${home}/delete` },
        ]
      : [],
  };
}
