/** Directory → Users → Create user: with a password, with a link by which he chooses one, or not active yet; in an organization, if wanted. */
import { z } from 'zod';
import { validation } from '../../errors.ts';
import { reachOf } from '../../policy/administration.ts';
import { parse } from '../../services/parsing.ts';
import { activateUser } from '../../services/user-lifecycle.ts';
import { userProfile } from '../../services/user-profile.ts';
import { createUser, type NewUser } from '../../services/users.ts';
import { type Field, formPage, type Option, typedValues } from '../form.ts';
import { formKey } from '../once.ts';
import type { ConsolePage } from '../page.ts';
import { placeFields, placeIn } from './place.ts';
import { ATTRIBUTE_GROUPS, attributeField, givenAttributes } from './profile-fields.ts';
import { linkOnce } from './secret-link.ts';
import { addressOfUser, USERS, USERS_HOME } from './user.ts';

const WAYS: readonly Option[] = [
  { value: 'link', label: 'By a link', hint: 'You get a link, shown once, and hand it over. The user chooses the password.' },
  { value: 'password', label: 'With a password that you set', hint: 'Type it below.' },
  { value: 'later', label: 'Not yet', hint: 'The account waits until you activate it.' },
];

const FIRST = new Set(['login', 'email', 'firstName', 'lastName']);
const PROFILE = ATTRIBUTE_GROUPS.flatMap(({ attributes }) => attributes)
  .filter(({ name }) => FIRST.has(name))
  .map((attribute) => attributeField(attribute, undefined));

const SIGN_IN: readonly Field[] = [
  { name: 'way', label: 'How will the user sign in first?', kind: 'radios', options: WAYS, value: 'link', group: 'First sign-in' },
  {
    name: 'password',
    label: 'Password',
    kind: 'secret',
    alias: 'credentials.password.value',
    hint: 'Only with a password that you set. The rules stand under Security, Passwords.',
    group: 'First sign-in',
  },
];

const way = z.object({ way: z.enum(['link', 'password', 'later']), password: z.string().max(1024) });

export const create: ConsolePage = {
  path: '/users/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const mayBeNone = reachOf(visit.request.roles, 'write') === 'everything';
    const fields = [...PROFILE, ...(await placeFields(visit, typed, { mayBeNone })), ...SIGN_IN];
    const submit = 'Create user';
    return formPage({ title: submit, crumbs: USERS, fields, hidden: formKey(), submit, cancel: USERS_HOME }, typed);
  },
  async receive(visit, form) {
    const profile = parse(userProfile, givenAttributes(typedValues(PROFILE, form)));
    const chosen = parse(way, typedValues(SIGN_IN, form));
    if (chosen.way === 'password' && chosen.password === '') throw validation([{ field: 'password', message: 'must not be empty' }]);
    const user: NewUser = {
      profile,
      ...(await placeIn(visit, form)),
      activate: chosen.way === 'password',
      ...(chosen.way === 'password' && { password: chosen.password }),
    };
    if (chosen.way === 'link') {
      return linkOnce(visit, form, [USERS_HOME, user], async (services) => {
        const { id, login } = await createUser(services, user, visit.request);
        const url = await activateUser(services, id, { sendEmail: false }, visit.request);
        if (url === undefined) throw new Error('a user without a password got no link');
        return { userId: id, login, url };
      });
    }
    const { id } = await createUser(visit.services, user, visit.request);
    return { goTo: addressOfUser(id), notice: 'user-created' };
  },
};
