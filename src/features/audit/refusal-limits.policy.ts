/**
 * How many refused requests have an event of their own: enough to find each by its request ID, and too few for a flood to fill the log. Per process
 * and minute.
 */
/** For each application. */
export const MOST_OF_APPLICATION = 60;
/** In all, so that a flood of requests in the name of many applications is limited, too. */
export const MOST_OF_ALL = 600;
const WINDOW_MS = 60_000;

export interface CountedRefusal {
  readonly applicationId: string;
  readonly endpoint: string;
  /** Error code, or kind of the decision. */
  readonly reason: string;
  /** What else distinguishes it from refusals of the same application, e.g. the user. Not what the caller chooses freely. */
  readonly about: readonly (string | undefined)[];
}

/** Refused requests without an event of their own. */
export interface FurtherRefusals {
  readonly applicationId: string;
  readonly requests: number;
  /** Numbers by endpoint and reason, e.g. `token invalid_grant`. */
  readonly reasons: Readonly<Record<string, number>>;
}

interface Admitted {
  events: number;
  readonly kinds: Set<string>;
}

const kindOf = ({ endpoint, reason, about }: CountedRefusal): string => JSON.stringify([endpoint, reason, ...about]);

export class RefusalLimits {
  #ends = 0;
  #events = 0;
  #admitted = new Map<string, Admitted>();
  #further = new Map<string, Map<string, number>>();

  /**
   * Counts a refusal.
   * @param now epoch milliseconds
   * @returns whether it gets an event of its own: up to the limits, and beyond them the first of its kind in a minute
   */
  admits(refusal: CountedRefusal, now: number): boolean {
    if (now >= this.#ends) {
      this.#ends = now + WINDOW_MS;
      this.#events = 0;
      this.#admitted.clear();
    }
    const { applicationId, endpoint, reason } = refusal;
    const kind = kindOf(refusal);
    const admitted = this.#admitted.get(applicationId) ?? { events: 0, kinds: new Set() };
    if (admitted.kinds.has(kind) && (admitted.events >= MOST_OF_APPLICATION || this.#events >= MOST_OF_ALL)) {
      const reasons = this.#further.get(applicationId) ?? new Map<string, number>();
      const name = `${endpoint} ${reason}`;
      this.#further.set(applicationId, reasons.set(name, (reasons.get(name) ?? 0) + 1));
      return false;
    }
    admitted.events += 1;
    admitted.kinds.add(kind);
    this.#events += 1;
    this.#admitted.set(applicationId, admitted);
    return true;
  }

  /** Takes an admission back whose event was not written: the application does not exist, or the database failed. */
  withdraw(refusal: CountedRefusal): void {
    const { applicationId } = refusal;
    const admitted = this.#admitted.get(applicationId);
    if (admitted === undefined) return;
    this.#events -= 1;
    admitted.events -= 1;
    admitted.kinds.delete(kindOf(refusal));
    if (admitted.events === 0) this.#admitted.delete(applicationId);
  }

  /** @returns the refusals without an event since the last call */
  takeFurther(): readonly FurtherRefusals[] {
    const further = [...this.#further].map(([applicationId, reasons]) => ({
      applicationId,
      requests: [...reasons.values()].reduce((sum, count) => sum + count, 0),
      reasons: Object.fromEntries(reasons),
    }));
    this.#further = new Map();
    return further;
  }
}
