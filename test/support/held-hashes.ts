/** Password hashes that do not end: what goes on meanwhile computes none, and waits for none. */
import type { TestContext } from 'node:test';
import { hashSemaphore, MAX_CONCURRENT_HASHES } from '../../src/features/passwords/passwords.service.ts';
import { afterwards } from './afterwards.ts';

/** From now on a password waits for its turn. @param more that wait before it @returns what lets them go on, one after the other */
export function holdHashes(t: TestContext, more = 0): () => Promise<void> {
  let letGo = (): void => {};
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const queue = Promise.all(Array.from({ length: MAX_CONCURRENT_HASHES + more }, () => hashSemaphore(() => until)));
  const release = async (): Promise<void> => {
    letGo();
    await queue;
  };
  afterwards(t, release);
  return release;
}
