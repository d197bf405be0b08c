/** Counts members of organizations. */
import type { Executor } from '../../platform/database/database.ts';
import { foldCounts, type KeptCounts, keptCount } from '../../platform/database/kept-counts.ts';

const MEMBER_COUNTS: KeptCounts = { table: 'member_counts', owner: 'org_id' };

/** @param o the alias of the organization's row @returns an expression: the number of its members */
export const memberCountOf = (o: string): string => keptCount(MEMBER_COUNTS, `${o}.id`);

/** @returns of how many organizations, at most `limit` */
export const foldMemberCounts = (executor: Executor, limit: number): Promise<number> => foldCounts(executor, MEMBER_COUNTS, limit);
