/** The pages of Reports. */
import type { ConsolePage } from '../page.ts';
import { entry } from './entry.ts';
import { explain } from './explain.ts';
import { log } from './log.ts';
import { retention } from './retention.ts';

export const reports: readonly ConsolePage[] = [log, retention, entry, explain];
