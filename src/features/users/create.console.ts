/** Directory → Users → Create user: with a password, with a link to choose one, or inactive; optionally in an organization. */

import { z } from 'zod';
import { type Field, formPage, type Option, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey } from '../../pages/console/submit-once.ts';
import { validation } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import { hasMailAddress } from '../mail/mail.service.ts';
import { passwordRules } from '../passwords/passwords.console.ts';
import { BY_LINK, linkOnce, linkOutcome, mayMail } from '../passwords/secret-link.console.ts';
import { addedFields, addedTyped } from '../user-schema/user-attributes.console.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { organizationChoice, placeFields } from './organization-fields.console.ts';
import { ATTRIBUTE_GROUPS, attributeField, emailVerifiedField, givenAttributes, givenVerification } from './profile-fields.console.ts';
import { activateUser } from './user-lifecycle.service.ts';
import { addressOfUser, USERS, USERS_HOME } from './user-page.console.ts';
import { userProfile } from './user-profile.service.ts';
import { createUser, type NewUser } from './users.service.ts';

const byMail = async (visit: ConsoleRequest): Promise<Option> => ({
  value: 'mail',
  label: 'By mail',
  hint: phrase('An invitation with a link goes to {address}. The user chooses the password.', {
    address: await linkOutcome(visit, phrase('the email address above')),
  }),
});
const BY_PASSWORD: Option = { value: 'password', label: 'With a password that you set', hint: 'You tell the user the password.' };
const LATER: Option = { value: 'later', label: 'Not yet', hint: 'The account waits until you activate it.' };

const waysFor = async (visit: ConsoleRequest): Promise<readonly Option[]> =>
  (await mayMail(visit))
    ? [await byMail(visit), BY_LINK, BY_PASSWORD, LATER]
    : [{ ...BY_LINK, hint: phrase('{hint} This service cannot send e-mail.', { hint: asPhrase(BY_LINK.hint ?? '') }) }, BY_PASSWORD, LATER];

const FIRST: ReadonlySet<string> = new Set(['login', 'email', 'firstName', 'lastName']);
const PROFILE: readonly Field[] = ATTRIBUTE_GROUPS.flatMap(({ attributes }) => attributes)
  .filter(({ name }) => FIRST.has(name))
  .map((attribute) => attributeField(attribute, undefined));

const signInFields = (ways: readonly Option[], rules: Phrase): readonly Field[] => [
  {
    ...{ name: 'way', label: 'How will the user sign in first?', kind: 'radios', group: 'First sign-in' },
    ...{ options: ways, value: ways[0]?.value },
  },
  {
    name: 'password',
    label: 'Password',
    kind: 'secret',
    alias: 'credentials.password.value',
    hint: rules,
    when: { field: 'way', value: 'password' },
    group: 'First sign-in',
  },
];

const chosenWay = z.object({ way: z.enum(['mail', 'link', 'password', 'later']), password: z.string().max(1024) });
type Chosen = z.output<typeof chosenWay>;

/** @throws {ApiError} validation: the way to sign in and the other fields contradict each other */
async function refuseContradiction(visit: ConsoleRequest, { way, password }: Chosen, email: string | null = null): Promise<void> {
  const refused = (field: string, message: string) => validation([{ field, message }]);
  if (way === 'mail' && !(await mayMail(visit)))
    throw refused('way', 'by e-mail is not possible: this service cannot send e-mail. Choose another option');
  if (way === 'mail' && email === null) throw refused('profile.email', 'is required: the link is sent to this address');
  if (way === 'mail' && !hasMailAddress({ email })) throw refused('profile.email', 'cannot receive e-mail. Enter another address');
  if (way === 'password' && password === '') throw refused('password', 'must not be empty');
  if (way !== 'password' && password !== '')
    throw refused('password', 'is only used with “With a password that you set”. Choose that option, or leave this field empty');
}

export const create: ConsolePage = {
  path: '/users/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const mayBeNone = reachOf(visit.request.roles, 'write') === 'everything';
    const signIn = signInFields(await waysFor(visit), await passwordRules(visit));
    const verified = emailVerifiedField(visit.request, false);
    const { attributes } = await currentUserSchema(visit.services);
    const fields = [...PROFILE, ...verified, ...addedFields(attributes), ...(await placeFields(visit, typed, { mayBeNone })), ...signIn];
    const submit = 'Create user';
    return formPage({ title: submit, crumbs: USERS, fields, hidden: formKey(), submit, cancel: USERS_HOME }, typed);
  },
  async receive(visit, form) {
    const { attributes } = await currentUserSchema(visit.services);
    const given = { ...givenAttributes(typedValues(PROFILE, form)), ...addedTyped(attributes, form), ...givenVerification(form, false) };
    const profile = parse(userProfile, given);
    const chosen = parse(chosenWay, typedValues(signInFields([], verbatim('')), form));
    const { way, password } = chosen;
    await refuseContradiction(visit, chosen, profile.email);
    const user: NewUser = {
      profile,
      ...(await organizationChoice(visit, form)),
      activate: way === 'password' || way === 'mail',
      sendEmail: way === 'mail',
      ...(way === 'password' && { password }),
    };
    return linkOnce(
      visit,
      form,
      [USERS_HOME, way, user],
      async (services) => {
        const { id, login } = await createUser(services, user, visit.request);
        const url = way === 'link' ? await activateUser(services, id, { sendEmail: false }, visit.request) : undefined;
        return { userId: id, login, url };
      },
      ({ userId }) => ({ goTo: addressOfUser(userId), notice: way === 'mail' ? 'user-invited' : 'user-created' }),
    );
  },
};
