/** Why something is refused, in the words of the API. */
import { ApiError } from '../../../platform/errors/errors.ts';

/** @throws the error itself where it is not about the record */
export function reasonsOf(error: unknown): readonly string[] {
  if (!(error instanceof ApiError)) throw error;
  return error.causes.length > 0 ? error.causes : [error.summary];
}
