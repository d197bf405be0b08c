/**
 * Delivers a link to choose a password: by e-mail if possible and the user has an address; otherwise, or on request, shown once in the response to
 * the form.
 */

import { z } from 'zod';
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, type Option, typedValues } from '../../pages/console/form.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { ConsoleRequest, Drawn, GoTo } from '../../pages/console/page.ts';
import { submitOnce } from '../../pages/console/submit-once.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase, type Text, type Value, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { hasMailAddress } from '../mail/mail.service.ts';
import { isMailPossible, mailRoute } from '../mail/mail-route.service.ts';
import { addressOfUser, USERS } from '../users/user-page.console.ts';
import type { User } from '../users/users.resource.ts';

/** Can this administrator have links sent by e-mail, from their address? */
export const mayMail = ({ services, request }: ConsoleRequest): Promise<boolean> => isMailPossible(services, request);

/** Where e-mail to this address is delivered. */
export const linkOutcome = async ({ services }: ConsoleRequest, address: Value): Promise<Value> =>
  (await mailRoute(services)).kind === 'server' ? address : phrase('the dev inbox of this machine, because there is no mail server');

export const BY_LINK: Option = {
  value: 'link',
  label: 'Show me the link',
  hint: 'You see it once and pass it on. The user chooses the password.',
};

/** Ways to send a link to a user; without a choice, the reason. */
export async function linkDelivery(
  visit: ConsoleRequest,
  user: Pick<User, 'email'>,
): Promise<{ readonly fields: readonly Field[]; readonly facts: readonly Text[] }> {
  if (!(await mayMail(visit))) return { fields: [], facts: ['You see a link once and pass it on. This service cannot send e-mail.'] };
  if (!hasMailAddress(user)) return { fields: [], facts: ['You see a link once and pass it on. The user has no usable e-mail address.'] };
  const byMail = {
    value: 'mail',
    label: 'By mail',
    hint: phrase('A link is sent to {address}. Using it proves that the address belongs to the user.', {
      address: await linkOutcome(visit, user.email),
    }),
  };
  const label = 'How does the link to choose a password get to the user?';
  return { fields: [{ name: 'way', label, kind: 'radios', options: [byMail, BY_LINK], value: 'mail' }], facts: [] };
}

/** @returns true: by e-mail @throws {ApiError} validation: nothing was selected, or e-mail is no longer possible */
export async function isByMail(visit: ConsoleRequest, user: Pick<User, 'email'>, form: URLSearchParams): Promise<boolean> {
  const { fields } = await linkDelivery(visit, user);
  if (fields.length > 0) return parse(z.object({ way: z.enum(['mail', 'link']) }), typedValues(fields, form)).way === 'mail';
  // The form offered e-mail: showing the link instead is not what the administrator chose.
  if (form.get('way') === 'mail') throw validation([{ field: 'way', message: 'by e-mail is no longer possible. Choose again' }]);
  return false;
}

export interface Made {
  readonly userId: string;
  readonly login: string;
  /** Absent: it was mailed, or none was needed. */
  readonly url?: string | undefined;
}

/**
 * Creates a link once, however often the form is submitted, and shows the link or its recipient.
 * @param content all submitted values
 * @param otherwise next page without a link to show
 */
export async function linkOnce(
  visit: ConsoleRequest,
  form: URLSearchParams,
  content: unknown,
  work: (within: Services) => Promise<Made>,
  otherwise: (made: Made) => { readonly goTo: string; readonly notice: PageNotice },
): Promise<Drawn | GoTo> {
  const made = await submitOnce(visit, form, content, work);
  return made.url === undefined ? otherwise(made) : linkPage(made, made.url);
}

function linkPage({ userId, login }: Made, url: string): Drawn {
  return detailPage({
    title: 'Link to choose a password',
    lead: 'Copy it now and give it to the user. It is shown only once, and works once for a limited time.',
    crumbs: [...USERS, { label: verbatim(login), href: addressOfUser(userId) }],
    parts: [
      {
        kind: 'facts',
        facts: [
          { label: 'User name', value: login },
          { label: 'Link', value: url, copy: true },
        ],
      },
      {
        kind: 'words',
        tone: 'warning',
        paragraphs: ['Anyone who has the link can choose the password. Send it over a private channel.'],
      },
    ],
    actions: [{ label: 'Done, I have copied it', href: addressOfUser(userId), main: true }],
  });
}
