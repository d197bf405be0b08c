/** Shows service refusals in the console's words: at the form if they can be corrected there, otherwise on a separate page. */

import { LAST_SUPER_ADMIN } from '../../features/users/user-lifecycle.policy.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, refusalText, type Text } from '../../platform/i18n/phrase.ts';
import type { Drawn, FieldMessage } from './page.ts';

const CAUSE = /^([\w.-]+): ([\s\S]*)$/;
const WRONG_STATE = 'E0000038';

/** Console texts for API messages. */
const PLAIN: Readonly<Record<string, Phrase>> = {
  'this service cannot send e-mail. Request the link with sendEmail=false': phrase(
    'This service can no longer send e-mail. Choose to have the link shown to you.',
  ),
  'the user has no e-mail address. Request the link with sendEmail=false': phrase(
    'The user no longer has a usable e-mail address. Choose to have the link shown to you.',
  ),
  [LAST_SUPER_ADMIN]: phrase(
    'This is the last super administrator who can sign in. Without one, nobody could administer the service. Give another account this role first.',
  ),
};

/** @returns the errors of a form; undefined if the error is about something else */
export function fieldMessages(error: unknown): readonly FieldMessage[] | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // `…current state: the organization has members`
  if (error.errorCode === WRONG_STATE) {
    const message = error.summary.slice(error.summary.indexOf(': ') + 2);
    return [{ message: PLAIN[message] ?? refusalText(message) }];
  }
  const isOfLimit = error.status === 429 && error.causes.length > 0;
  if (error.status !== 400 && error.status !== 409 && !isOfLimit) return undefined;
  if (error.causes.length === 0) return [{ message: refusalText(error.summary) }];
  return error.causes.map((cause) => {
    const [, field, message] = CAUSE.exec(cause) ?? [];
    return field === undefined || message === undefined ? { message: refusalText(cause) } : { field, message: refusalText(message) };
  });
}

interface Refusal {
  readonly status: number;
  readonly page: Drawn;
}

const refusal = (status: number, title: string, lead: Text): Refusal => ({ status, page: { view: 'refusal', title, lead } });

export const NOT_FOUND = refusal(404, 'There is no such page', 'It may have been deleted, or the address is wrong.');
export const NOT_ALLOWED = refusal(
  403,
  'You may not do this',
  'Your role does not allow it. A super administrator can do it, or give you another role.',
);

/** @returns undefined if the error is a failure of the service itself */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 404) return NOT_FOUND;
  if (error.status === 403 && error.errorCode !== WRONG_STATE) return NOT_ALLOWED;
  if (error.status === 429) return refusal(429, 'Too many searches are running', 'Try again in a moment.');
  const problems = fieldMessages(error);
  return (
    problems &&
    refusal(
      error.status,
      'This cannot be done',
      problems
        .map(({ field, message }) =>
          field === undefined ? asPhrase(message) : phrase('{field} {problem}', { field, problem: asPhrase(message) }),
        )
        .reduce((problem, next) => phrase('{problem}; {next}', { problem, next })),
    )
  );
}
