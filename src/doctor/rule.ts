/** The doctor's rules as data: a sentence and a check each. The `must…` functions report what a response must contain. */

export interface Rule<Subject> {
  /** Stable and searchable: the endpoint or section, and the subject. */
  readonly id: string;
  /** Heading of the section. */
  readonly section: string;
  readonly sentence: string;
  /** @returns a detail worth reporting @throws {Broken} the rule is violated @throws {Skipped} @throws {Blocked} */
  run(subject: Subject): Promise<string | undefined> | Promise<void>;
}

/** The rules of one heading. */
export const section = <Subject>(heading: string, rules: readonly Omit<Rule<Subject>, 'section'>[]): readonly Rule<Subject>[] =>
  rules.map((rule) => ({ ...rule, section: heading }));

/** The rule is violated. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** The rule cannot be checked from here, or does not apply: not a failure. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** The check failed for another reason: the service has a problem, but not necessarily with this rule. */
export class Blocked extends Error {
  override readonly name = 'Blocked';
}

/** A rule that is not checked. @param why without a full stop */
export const unseen = (why: string) => async (): Promise<void> => {
  throw new Skipped(why);
};

/** @param expected the requirement, reported if it is not met */
export function must(isSo: boolean, expected: string): asserts isSo {
  if (!isSo) throw new Broken(expected);
}

export function mustEqual(found: unknown, expected: unknown, what: string): void {
  must(found === expected, `${what} must be ${printed(expected)}, is ${printed(found)}`);
}

export function mustMatch(found: unknown, pattern: RegExp, what: string): asserts found is string {
  must(typeof found === 'string' && pattern.test(found), `${what} must match ${pattern}, is ${printed(found)}`);
}

const printed = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value));
