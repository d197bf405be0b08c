/** What every service works with; made once, in main.ts. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Keyring } from '../secrets.ts';
import type { Database } from '../store/database.ts';
import type { Notifications } from '../store/notifications.ts';

export interface Services {
  readonly database: Database;
  readonly notifications: Notifications;
  readonly keyring: Keyring;
  readonly config: Config;
  readonly log: Logger;
}
