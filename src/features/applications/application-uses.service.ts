/**
 * When applications and their secrets were last used. Requests record it in memory, and each process writes it once a minute in one
 * statement, so requests need no further statement. A crash loses the last minute.
 */
import type { Logger } from 'pino';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { repeat } from '../../platform/concurrency/repeat.ts';
import type { Database } from '../../platform/database/database.ts';
import { type LastUses, touchApplications } from './applications.store.ts';

export class ApplicationUses {
  /** Times by ID; only IDs of existing applications and secrets are recorded. */
  #applications = new Map<string, Date>();
  #secrets = new Map<string, Date>();

  /** A request of the application was answered, or a user was admitted. */
  note(applicationId: string): void {
    this.#applications.set(applicationId, present());
  }

  /** A secret matched. */
  noteSecret(secretId: string): void {
    this.#secrets.set(secretId, present());
  }

  /** Writes the records since the last time; those that could not be written are kept. */
  async write({ knex }: Pick<Database, 'knex'>): Promise<void> {
    const uses: LastUses = { applications: this.#applications, secrets: this.#secrets };
    if (uses.applications.size + uses.secrets.size === 0) return;
    this.#applications = new Map();
    this.#secrets = new Map();
    try {
      await touchApplications(knex, uses);
    } catch (error) {
      this.#applications = new Map([...uses.applications, ...this.#applications]);
      this.#secrets = new Map([...uses.secrets, ...this.#secrets]);
      throw error;
    }
  }
}

/** Starts writing. @returns a handle that stops it after a last write */
export function writeUses(uses: ApplicationUses, database: Database, log: Logger): { stop(): Promise<void> } {
  const write = () =>
    uses
      .write(database)
      .catch((error: unknown) => log.warn({ err: error }, 'could not save when applications were last used; trying again'));
  const writer = repeat('write last uses', write, () => timings.usesPause);
  return {
    async stop() {
      await writer.stop();
      await write();
    },
  };
}
