/** Processes a form once, however often it is submitted. A repetition gets the first result, e.g. a secret. */

import { once } from '../../features/idempotency/idempotency.service.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError, validation } from '../../platform/errors/errors.ts';
import type { ConsoleRequest } from './page.ts';

/** The hidden field of such a form. */
export const formKey = (): { readonly key: string } => ({ key: randomToken() });

const SENT_BEFORE = 'This form was already processed with other values. Send it again to process these values, too.';

/**
 * @param content everything that identifies the form
 * @param work all changes, with the given services; its result is stored encrypted as JSON
 * @throws {ApiError} validation: the form has no key; conflict: it was submitted before with other values
 */
export async function submitOnce<T>(
  { services, person }: ConsoleRequest,
  form: URLSearchParams,
  content: unknown,
  work: (within: Services) => Promise<T>,
): Promise<T> {
  const key = form.get('key') ?? '';
  if (!/^[\w-]{43}$/.test(key)) throw validation([{ field: 'key', message: 'of the form is missing. Open the page again' }]);
  const call = { userId: person.id, key: `console ${key}`, content: JSON.stringify(content) };
  const { response: answer } = await once(services, call, work).catch((error: unknown) => {
    // Other conflicts have their own field.
    const isKey = error instanceof ApiError && error.status === 409 && error.causes.some((cause) => cause.startsWith('Idempotency-Key'));
    throw isKey ? new ApiError(error.errorCode, error.status, SENT_BEFORE) : error;
  });
  return answer;
}
