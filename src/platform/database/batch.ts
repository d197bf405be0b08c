/**
 * Batches statements: the queries of several requests in one turn of the event loop become one statement, because the round trip costs more
 * than the query. A single request does not wait.
 */
import type pg from 'pg';
import { timings } from '../clock/timings.ts';
import { type TraceContext, traceContext, withContexts } from '../telemetry/tracing.ts';
import { isUnanswered, isUnavailable, Overloaded, wasHeldUp } from './database-failures.ts';

/**
 * One statement at a time: later requests form the next batch. A statement that takes longer than this many milliseconds no longer blocks the next.
 */
const HELD_UP = 20;
const MOST_UNDER_WAY = 4;

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly since: number;
  readonly trace: TraceContext | undefined;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

/**
 * @param ask answers the questions in order; if a batch fails, each question is retried alone, so that none fails because of another
 * @param most maximum questions per statement
 * @returns a function for one question
 */
export function batch<Question, Answer>(
  ask: (pool: pg.Pool, questions: readonly Question[]) => Promise<readonly Answer[]>,
  most: number,
): (pool: pg.Pool, question: Question) => Promise<Answer> {
  const queues = new WeakMap<pg.Pool, (question: Question) => Promise<Answer>>();
  return (pool, question) => {
    let enqueue = queues.get(pool);
    if (enqueue === undefined) {
      enqueue = queue((questions) => ask(pool, questions), most);
      queues.set(pool, enqueue);
    }
    return enqueue(question);
  };
}

function queue<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  most: number,
): (question: Question) => Promise<Answer> {
  const waiting: Waiting<Question, Answer>[] = [];
  let underWay = 0;
  let heldUp = 0;
  let isDue = false;
  let refusal: NodeJS.Timeout | undefined;
  const isFree = (): boolean => underWay === heldUp && underWay < MOST_UNDER_WAY;

  /** If the database is slow or does not respond, the queue must not grow without limit. One timer checks for the longest waiting request. */
  function refuseLate(): void {
    const latest = performance.now() - timings.databaseTurn;
    const timely = waiting.findIndex(({ since }) => since > latest);
    for (const { reject } of waiting.splice(0, timely < 0 ? waiting.length : timely)) reject(new Overloaded());
    const [first] = waiting;
    if (first === undefined || refusal !== undefined) return;
    refusal = setTimeout(() => {
      refusal = undefined;
      refuseLate();
    }, first.since - latest).unref();
  }

  function schedule(): void {
    refuseLate();
    if (isDue || waiting.length === 0 || !isFree()) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (isFree()) void send(waiting.splice(0, most));
    });
  }

  async function send(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    underWay += 1;
    let isHeldUp = false;
    const timer = setTimeout(() => {
      isHeldUp = true;
      heldUp += 1;
      schedule();
    }, HELD_UP);
    try {
      const questions = batch.map(({ question }) => question);
      const answers = await withContexts(batch, () => ask(questions));
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index] as Answer);
      });
    } catch (error) {
      // Each waiting request would wait as long again.
      if (isUnanswered(error)) for (const { reject } of waiting.splice(0)) reject(error);
      // If the database is down, retries would fail too. The outcome of a statement with a lost response is unknown.
      if (batch.length === 1 || (isUnavailable(error) && !wasHeldUp(error))) for (const { reject } of batch) reject(error);
      // In parallel, so that one that waits for a lock does not delay the others.
      else await Promise.all(batch.map(alone));
    } finally {
      clearTimeout(timer);
      underWay -= 1;
      if (isHeldUp) heldUp -= 1;
      schedule();
    }
  }

  async function alone(one: Waiting<Question, Answer>): Promise<void> {
    const { question, resolve, reject } = one;
    try {
      resolve((await withContexts([one], () => ask([question])))[0] as Answer);
    } catch (error) {
      reject(error);
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, since: performance.now(), trace: traceContext(), resolve, reject });
      schedule();
    });
}
