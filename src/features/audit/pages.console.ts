/** The pages of Reports. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { entry } from './entry.console.ts';
import { explainPage } from './explain.console.ts';
import { log } from './log.console.ts';
import { retention } from './retention.console.ts';

export const reports: readonly ConsolePage[] = [log, retention, entry, explainPage];
