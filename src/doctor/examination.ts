/** Runs the rules one after the other. A failed rule does not stop the others. */

import { BUILT_IN_SERVER } from './fixtures.ts';
import type { HttpExchange } from './http-client.ts';
import { Blocked, type Rule, Skipped } from './rule.ts';
import { cancelExamination, type Examination, RuleContext } from './rule-context.ts';

export interface Finding {
  readonly id: string;
  readonly section: string;
  readonly sentence: string;
  /** `blocked`: it could not be checked because of another problem. */
  readonly outcome: 'ok' | 'FAIL' | 'skip' | 'blocked';
  /** The problem, the reason for skipping, or a detail of a passed check. */
  readonly words: string | undefined;
  /** The last exchange, which the words describe. */
  readonly exchange: HttpExchange | undefined;
}

type Seen = Pick<Finding, 'outcome' | 'words'>;

const OVER: Seen = { outcome: 'blocked', words: 'the doctor stopped before this rule' };

async function see<Subject>(rule: Rule<Subject>, subject: Subject, signal: AbortSignal): Promise<Seen> {
  if (signal.aborted) return OVER;
  try {
    return { outcome: 'ok', words: (await rule.run(subject)) ?? undefined };
  } catch (error) {
    if (signal.aborted) return OVER;
    const words = (error as Error).message;
    if (error instanceof Skipped) return { outcome: 'skip', words };
    return { outcome: error instanceof Blocked ? 'blocked' : 'FAIL', words };
  }
}

/** Runs the installation checks. They exchange no HTTP messages worth showing. */
export async function* check<Subject>(rules: readonly Rule<Subject>[], subject: Subject, signal: AbortSignal): AsyncGenerator<Finding> {
  for (const rule of rules) yield { ...rule, ...(await see(rule, subject, signal)), exchange: undefined };
}

/** Checks each rule at the built-in server and at a custom one; it passes if it passes at both. */
export async function* examine(rules: readonly Rule<RuleContext>[], examination: Examination): AsyncGenerator<Finding> {
  for (const rule of rules) {
    const looks: Pick<Finding, 'outcome' | 'words' | 'exchange'>[] = [];
    for (const serverId of [BUILT_IN_SERVER, examination.fixtures.serverId]) {
      const visit = new RuleContext(examination, serverId);
      const { outcome, words } = await see({ ...rule, run: () => whereServerIs(visit, rule) }, visit, examination.signal);
      const place = outcome === 'FAIL' ? `at the ${serverId === BUILT_IN_SERVER ? 'built-in' : 'custom'} server: ` : '';
      await cancelExamination(examination);
      looks.push({ outcome, words: words && `${place}${words}`, exchange: visit.wire.exchanges.at(-1) });
      if (outcome === 'FAIL' || outcome === 'skip') break;
    }
    const worst = looks.find(({ outcome }) => outcome === 'FAIL') ?? looks.find(({ outcome }) => outcome !== 'ok');
    const last = worst ??
      looks.findLast(({ exchange }) => exchange !== undefined) ?? { outcome: 'ok', words: undefined, exchange: undefined };
    yield { ...rule, ...last };
  }
}

async function whereServerIs(visit: RuleContext, rule: Rule<RuleContext>): Promise<string | undefined> {
  if (!visit.isBuiltIn) await visit.ownServer();
  return (await rule.run(visit)) ?? undefined;
}
