/** Services available everywhere; created once at start. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Keyring } from '../crypto/secrets.ts';
import type { Database } from './database.ts';
import type { Notifications } from './notifications.ts';

export interface Services {
  readonly database: Database;
  readonly notifications: Notifications;
  readonly keyring: Keyring;
  readonly config: Config;
  readonly log: Logger;
}
