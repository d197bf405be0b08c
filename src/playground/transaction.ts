/** What the playground remembers of a sign-in under way: what every application must, and what was chosen. */
import { z } from 'zod';
import { type Seal, sealing } from '../http/sealed.ts';
import { TRANSACTION_SECONDS, type Transactions, transactionCookies, transactionFields } from '../http/transactions.ts';
import { choices } from './choices.ts';

const schema = z.object({ choices, ...transactionFields });
export type Transaction = z.infer<typeof schema>;

const KIND = 'playground-transaction';

/** @param key 32 bytes */
export const transactionSeal = (key: Uint8Array): Seal<Transaction> => sealing({ kind: KIND, schema, key, seconds: TRANSACTION_SECONDS });

/** @param options.key 32 bytes @param options.secure is the service reached by https? */
export const playgroundTransactions = (options: { readonly key: Uint8Array; readonly secure: boolean }): Transactions<Transaction> =>
  transactionCookies({ ...options, kind: KIND, schema, prefix: 'gatehouse_playground_', path: '/playground' });
