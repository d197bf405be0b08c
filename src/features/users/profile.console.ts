/** The profile of a user and its form. */

import { usersIn } from '../../pages/console/candidates.ts';
import type { Content, Fact, Part } from '../../pages/console/detail-page.ts';
import { formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password.policy.ts';
import { mayMail } from '../passwords/secret-link.console.ts';
import { ADDED_GROUP, addedFacts, addedFields, addedTyped } from '../user-schema/user-attributes.console.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { needsVerification, sendVerification } from './email-verification.service.ts';
import { ATTRIBUTE_GROUPS, attributeField, emailVerifiedField, givenAttributes, givenVerification } from './profile-fields.console.ts';
import { addressOfUser, subjectToChange, type UserSubject, userPage, userSubject } from './user-page.console.ts';
import { userProfile } from './user-profile.service.ts';
import { userStatusPiece } from './user-status.console.ts';
import { changeUser } from './users.service.ts';

const valuesOf = ({ user }: UserSubject): Readonly<Record<string, string | undefined>> => ({
  ...user.profile,
  login: user.login,
  email: user.email ?? undefined,
});

const never = (date: Date | null) => (date === null ? { text: 'Never', soft: true } : { moment: momentOrNull(date) });

function passwordOf({ passwordHash, passwordChanged }: UserSubject['user']): Content {
  if (passwordHash === null) return '';
  if (passwordHash === PASSWORD_ELSEWHERE) return phrase('Stored in another system until the next sign-in');
  return [{ text: phrase('Set') }, { moment: momentOrNull(passwordChanged) }];
}

const show: ConsolePage = {
  path: '/users/:id',
  access: 'organizations',
  async show(visit) {
    const subject = await userSubject(visit);
    const { user, status, home } = subject;
    const values = valuesOf(subject);
    const account: Fact[] = [
      {
        label: 'Status',
        value: [userStatusPiece(status, user), { text: 'since', soft: true }, { moment: momentOf(user.statusChanged ?? user.created) }],
      },
      ...(status === 'LOCKED_OUT' ? [{ label: 'Locked until', value: never(user.lockedUntil) }] : []),
      { label: 'ID', value: user.id, copy: true },
      { label: 'Created', value: { moment: momentOf(user.created) } },
      { label: 'Activated', value: never(user.activated) },
      {
        label: 'Password',
        value: passwordOf(user),
      },
      { label: 'Last sign-in', value: never(user.lastLogin) },
      { label: 'Last change', value: { moment: momentOf(user.lastUpdated) } },
    ];
    const confirmed = user.emailVerified
      ? ({ text: 'confirmed', tone: 'good' } as const)
      : ({ text: 'not confirmed', soft: true } as const);
    const manager = values.managerId === undefined ? undefined : await usersIn(visit).byId(values.managerId);
    const parts = ATTRIBUTE_GROUPS.map(({ group, attributes }): Part => {
      const set = attributes.filter(({ name }) => group === 'Account' || values[name] !== undefined);
      const facts = set.map(({ name, label }): Fact => {
        const text = values[name] ?? '';
        if (name === 'managerId' && manager !== undefined)
          return { label, value: { text: manager.label, href: addressOfUser(manager.id) } };
        return { label, value: name === 'email' && text !== '' ? [{ text }, confirmed] : text };
      });
      return { kind: 'facts', title: group, facts: group === 'Account' ? [...facts, ...account] : facts };
    });
    const { attributes } = await currentUserSchema(visit.services);
    parts.push({ kind: 'facts', title: ADDED_GROUP, facts: addedFacts(attributes, user.profile) });
    const shown = parts.filter((part) => part.kind !== 'facts' || part.facts.length > 0);
    const verify =
      needsVerification(user) && (await mayMail(visit))
        ? [{ label: 'Send e-mail to confirm the address', href: `${home}/verify-email` }]
        : [];
    const actions = [...verify, { label: 'Edit profile', href: `${home}/edit`, main: true }];
    return userPage(visit, subject, shown, subject.isChangeable ? actions : []);
  },
};

const verify: ConsolePage = {
  path: '/users/:id/verify-email',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, home, crumbs } = await subjectToChange(visit);
    const title = 'Send e-mail to confirm the address';
    const address = user.email ?? phrase('the user');
    const facts = [
      phrase(
        'A link is sent to {address}. Opening it and confirming proves that the address belongs to the user. Applications then see it as verified.',
        {
          address,
        },
      ),
      'It works once, for one day. A link sent before does not work any more.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Send mail', cancel: home }, typed);
  },
  async receive(visit) {
    const { user, home } = await subjectToChange(visit);
    await sendVerification(visit.services, user.id, visit.request);
    return { goTo: home, notice: 'verification-sent' };
  },
};

const FIELDS = ATTRIBUTE_GROUPS.flatMap(({ attributes }) => attributes.map((attribute) => attributeField(attribute, undefined)));

const edit: ConsolePage = {
  path: '/users/:id/edit',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectToChange(visit);
    const values = valuesOf(subject);
    const { kind: _, ...manager } = attributeField({ name: 'managerId', label: 'Manager ID' }, undefined, 'Work');
    const managerField = await pickField(usersIn(visit), { ...manager, value: values.managerId, none: 'No manager' }, typed);
    const fields = ATTRIBUTE_GROUPS.flatMap(({ group, attributes }) =>
      attributes.flatMap((attribute) => [
        attribute.name === 'managerId' ? managerField : attributeField(attribute, values[attribute.name], group),
        ...(attribute.name === 'email' ? emailVerifiedField(visit.request, subject.user.emailVerified, group) : []),
      ]),
    );
    const { attributes } = await currentUserSchema(visit.services);
    const added = addedFields(attributes, subject.user.profile);
    const title = 'Edit profile';
    return formPage({ title, crumbs: subject.crumbs, fields: [...fields, ...added], submit: 'Save', cancel: subject.home }, typed);
  },
  async receive(visit, form) {
    const { services, request } = visit;
    const { user } = await subjectToChange(visit);
    const isAsked = emailVerifiedField(request, false).length > 0;
    const managerId = (form.get('managerId') ?? '').trim();
    // An ID of another system stays until another user is chosen.
    const isSame = managerId === (user.profile.managerId ?? '');
    const typed = {
      ...typedValues(FIELDS, form),
      managerId: isSame ? managerId : await pickedId(usersIn(visit), 'managerId', managerId),
    };
    const given = { ...givenAttributes(typed), ...(isAsked && givenVerification(form, user.emailVerified)) };
    const profile = parse(userProfile, given);
    const { attributes } = await currentUserSchema(services);
    const { id } = await changeUser(
      services,
      user.id,
      { profile: { replaceBy: { ...profile, ...addedTyped(attributes, form) } } },
      request,
    );
    return { goTo: addressOfUser(id), notice: 'user-changed' };
  },
};

export const profile: readonly ConsolePage[] = [show, edit, verify];
