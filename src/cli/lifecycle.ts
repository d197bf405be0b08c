/**
 * The life of one process of the service: what it opens it closes again in the reverse order, when it is told to stop (SIGTERM,
 * SIGINT) as well as when its start fails midway.
 */
import { ConfigurationError } from '../platform/config/config.ts';

/** Milliseconds after which a process that was told to stop ends even though something does not let go. */
const LAST_MOMENT = 25_000;

/** A start that failed for a reason the operator can mend: told in one line, without a stack; without words when it was told already. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

/** @returns the words for the operator */
export function explainFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return ['The configuration is wrong:', ...error.problems.map((line) => `  ${line}`)].join('\n');
  if (error instanceof StartFailure) return error.message;
  return `Gatehouse could not go on: ${error instanceof Error ? error.message : String(error)}`;
}

/** Resources to close at the end. */
export class OpenResources {
  readonly #closers: (() => unknown)[] = [];

  /** Notes how to close what was just opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, the last first; one that fails keeps none of the others open. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Starts, waits for the word to stop, and closes all that was opened. A word that comes during the start is heeded after it.
 * @throws what made the start fail, after closing what was open by then; or what could not be closed
 */
export async function untilTold(start: (open: OpenResources) => Promise<void>): Promise<void> {
  const open = new OpenResources();
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      // Listening on: npm passes a Ctrl-C on that the process has already got from the terminal.
      process.on(signal, () => {
        setTimeout(() => process.exit(1), LAST_MOMENT).unref();
        resolve();
      });
    }
  });
  try {
    await start(open);
  } catch (error) {
    await open.close().catch(() => undefined);
    throw error;
  }
  await told;
  await open.close();
}
