/** Directory → Users → Invite user: sends an e-mail with a link to choose a password. Until then the user is shown as invited. */
import { z } from 'zod';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import { linkOutcome, mayMail } from '../passwords/secret-link.console.ts';
import { organizationChoice, placeFields } from '../users/organization-fields.console.ts';
import { addressOfUser, USERS, USERS_HOME } from '../users/user-page.console.ts';
import { userProfile } from '../users/user-profile.service.ts';
import { createUser, type NewUser } from '../users/users.service.ts';

const typedFields = async (visit: ConsoleRequest): Promise<readonly Field[]> => [
  {
    name: 'email',
    label: 'E-mail address',
    kind: 'email',
    required: true,
    alias: 'profile.email',
    hint: phrase('An invitation with a link goes to {address}. The user chooses the password.', {
      address: await linkOutcome(visit, phrase('this address')),
    }),
  },
  { name: 'firstName', label: 'First name', alias: 'profile.firstName' },
  { name: 'lastName', label: 'Last name', alias: 'profile.lastName' },
  { name: 'login', label: 'User name', alias: 'profile.login', hint: 'Empty: the e-mail address' },
];

const line = z.string().trim();
const invited = z.object({ email: line, firstName: line, lastName: line, login: line });

const filled = (value: string): string | undefined => (value === '' ? undefined : value);

/** The same call as POST /api/v1/users?activate=true&sendEmail=true. */
export const invite: ConsolePage = {
  path: '/users/invite',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const mayBeNone = reachOf(visit.request.roles, 'write') === 'everything';
    const fields = [...(await typedFields(visit)), ...(await placeFields(visit, typed, { mayBeNone }))];
    const facts = (await mayMail(visit)) ? [] : ['This service cannot send e-mail. Create the user, and pass the link on yourself.'];
    return formPage(
      { title: 'Invite user', crumbs: USERS, facts, fields, hidden: formKey(), submit: 'Send invitation', cancel: USERS_HOME },
      typed,
    );
  },
  async receive(visit, form) {
    const { email, firstName, lastName, login } = parse(invited, typedValues(await typedFields(visit), form));
    if (email === '') throw validation([{ field: 'profile.email', message: 'is required: the link is sent to this address' }]);
    const profile = parse(userProfile, { login: filled(login) ?? email, email, firstName: filled(firstName), lastName: filled(lastName) });
    const user: NewUser = { profile, ...(await organizationChoice(visit, form)), activate: true, sendEmail: true };
    const id = await submitOnce(
      visit,
      form,
      [USERS_HOME, 'invite', user],
      async (services) => (await createUser(services, user, visit.request)).id,
    );
    return { goTo: addressOfUser(id), notice: 'user-invited' };
  },
};
