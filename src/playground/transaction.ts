/** What the playground remembers of a sign-in under way: what every application must, and what was chosen. */
import { z } from 'zod';
import type { Keys } from '../platform/crypto/secrets.ts';
import { type Transactions, transactionCookies, transactionFields } from '../platform/http/transactions.ts';
import { choices } from './choices.ts';

const schema = z.object({ choices, ...transactionFields });
export type Transaction = z.infer<typeof schema>;

/** @param options.secure is the service reached by https? */
export const playgroundTransactions = (options: { readonly keys: Keys; readonly secure: boolean }): Transactions<Transaction> =>
  transactionCookies({ ...options, kind: 'playground-transaction', schema, prefix: 'gatehouse_playground_', path: '/playground' });
