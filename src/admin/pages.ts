/** All pages of the console, in the order in which addresses are compared. */
import { dashboard } from './dashboard.ts';
import { departments } from './departments.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import type { ConsolePage } from './page.ts';
import { tokens } from './tokens.ts';

export const PAGES: readonly ConsolePage[] = [dashboard, ...tokens, ...organizations, ...departments, ...members];
