/** Pages that stand within a sign-in, in its narrow layout, and in the user's own pages, in their frame: how the account has them drawn there. */

/** What was wrong, and the id of the field to try again with. */
export interface FormProblem {
  readonly field: string;
  readonly message: string;
}

/** What the frame puts around a page, in the place of the page's own. */
interface Framing {
  readonly heading: string;
  readonly problems?: readonly FormProblem[] | undefined;
  /** HTTP status; absent: as the problems say. */
  readonly status?: number | undefined;
}

/** Answers with a view in the frame. @param locals of the view */
export type DrawInFrame = (view: string, framing: Framing, locals: Record<string, unknown>) => Promise<void>;
