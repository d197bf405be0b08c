/** Pages that appear in a sign-in (narrow layout) and on the account pages (in their frame): how the account pages render them. */

/** The problem, and the ID of the field to correct. */
export interface FormProblem {
  readonly field: string;
  readonly message: string;
}

/** Parts that the layout replaces. */
interface Framing {
  readonly heading: string;
  readonly problems?: readonly FormProblem[] | undefined;
  /** HTTP status; absent: as the problems say. */
  readonly status?: number | undefined;
}

/** Answers with a view in the frame. @param locals of the view */
export type DrawInFrame = (view: string, framing: Framing, locals: Record<string, unknown>) => Promise<void>;
