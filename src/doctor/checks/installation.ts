/** All that is checked about the installation, before the specification is. */
import type { Rule } from '../rule.ts';
import { clock } from './clock.ts';
import { configuration } from './configuration.ts';
import { data } from './data.ts';
import { database } from './database.ts';
import type { Ground } from './ground.ts';
import { keys } from './keys.ts';
import { mail } from './mail.ts';

export const INSTALLATION: readonly Rule<Ground>[] = [...configuration, ...database, ...data, ...keys, ...clock, ...mail];
