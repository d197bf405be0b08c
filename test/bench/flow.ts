/** What a flow is. */
import type { Seat, Target, TargetName } from './target.ts';

export interface Flow<Context> {
  readonly name: string;
  /** Only Gatehouse has it. */
  readonly own?: true;
  /** Targets that do not offer it. */
  readonly lackedBy?: readonly TargetName[];
  /** Does it verify a password? That share of its CPU time is the algorithm's. */
  readonly hashes?: true;
  /** Once for each seat, not measured. */
  prepare(target: Target, seat: Seat): Context | Promise<Context>;
  /** One flow, measured. @throws when the answer is not the right one */
  request(context: Context): Promise<void>;
}

/** Declares a flow; what its context is stays its own matter. */
export const flow = <Context>(declared: Flow<Context>): Flow<Context> => declared;

export const isOffered = ({ own, lackedBy = [] }: Flow<unknown>, target: TargetName): boolean =>
  target === 'gatehouse' || !(own || lackedBy.includes(target));

export const basic = ({ clientId, clientSecret }: Pick<Target, 'clientId' | 'clientSecret'>): string =>
  `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
