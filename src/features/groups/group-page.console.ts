/** Shared by all pages of a group. */

import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import type { Group } from './groups.resource.ts';
import { getGroup } from './groups.service.ts';

export const GROUPS_HOME = '/admin/groups';
export const GROUPS_PATH: readonly Crumb[] = [{ label: 'Groups', href: GROUPS_HOME }];

/** The consequences for users who are removed from a group. */
export const LEAVING_FACTS: readonly string[] = [
  'From the next sign-in, the user loses access that only this group gives. The account itself stays.',
];

export const addressOfGroup = (id: string): string => `${GROUPS_HOME}/${encodeURIComponent(id)}`;

export interface GroupInSight {
  readonly group: Group;
  readonly home: string;
  /** The way to a page below. */
  readonly crumbs: readonly Crumb[];
  readonly tabs: readonly Action[];
}

/** @throws {ApiError} not found */
export async function groupOf({ services, params }: ConsoleRequest): Promise<GroupInSight> {
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
  };
}
