/** Lifecycle of a process: closes its resources in reverse order on a signal (SIGTERM, SIGINT), or when the start fails. */
import { ConfigurationError } from '../platform/config/config.ts';

/** Milliseconds after a stop signal when the process exits even if a resource does not close. */
const EXIT_TIMEOUT = 25_000;

/** A start failure that the operator can fix: reported in one line without a stack; empty if it was already reported. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

/** @returns the message for the operator */
export function explainFailure(error: unknown): string {
  if (error instanceof ConfigurationError)
    return ['The configuration has errors. Correct these environment variables:', ...error.problems.map((line) => `  ${line}`)].join('\n');
  if (error instanceof StartFailure) return error.message;
  return `Gatehouse stopped because of an error: ${error instanceof Error ? error.message : String(error)}`;
}

/** Resources to close at the end. */
export class OpenResources {
  readonly #closers: (() => unknown)[] = [];

  /** Registers how to close a resource that was just opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes all resources, last one first, even if one fails. @throws the first failure */
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
 * Starts, waits for a stop signal, and closes all resources. A signal during the start takes effect after it.
 * @throws the start failure, after closing what was open; or the error of a resource that cannot be closed
 */
export async function runUntilStopped(start: (open: OpenResources) => Promise<void>): Promise<void> {
  const open = new OpenResources();
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      // With listeners, a second signal does not end the process: npm forwards a Ctrl-C that the process has already got from the terminal.
      process.on(signal, () => {
        setTimeout(() => process.exit(1), EXIT_TIMEOUT).unref();
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
  await signalled;
  await open.close();
}
