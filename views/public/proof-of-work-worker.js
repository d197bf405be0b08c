// Solves one challenge (proof-of-work.js).
import { deriveKey } from './altcha/algorithms/web/pbkdf2.js';
import { solveChallenge } from './altcha/pow.js';

addEventListener('message', async ({ data: challenge }) => {
  try {
    postMessage(await solveChallenge({ challenge, deriveKey }));
  } catch {
    postMessage(undefined);
  }
});
