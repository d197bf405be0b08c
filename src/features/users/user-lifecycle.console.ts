/** The life of a user's account: how it stands, the steps that this offers, another password, and its end. */
import { z } from 'zod';
import type { Fact } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { momentOf, momentOrNull } from '../../pages/console/moments.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey } from '../../pages/console/submit-once.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { passwordRules } from '../passwords/passwords.console.ts';
import { isByMail, linkOnce, waysTo } from '../passwords/secret-link.console.ts';
import { type LifecycleStep, possibleSteps } from './user-lifecycle.policy.ts';
import { activateUser, deleteUser, resetPassword, takeStep } from './user-lifecycle.service.ts';
import { addressOfUser, subjectToChange, USERS_HOME, type UserSubject, userPage, userSubject } from './user-page.console.ts';
import { userStatusPiece } from './user-status.console.ts';
import { changeUser } from './users.service.ts';

interface Step {
  readonly label: string;
  readonly does: string;
  readonly notice: PageNotice;
  /** What ends with it does not come back. */
  readonly danger?: boolean;
}

const STEPS: Readonly<Record<LifecycleStep, Step>> = {
  activate: {
    label: 'Activate',
    does: 'Lets the user sign in. Whoever has no password chooses one by a link.',
    notice: 'user-activated',
  },
  unlock: { label: 'Unlock', does: 'Lets a user sign in again after too many wrong passwords or codes.', notice: 'user-unlocked' },
  unsuspend: { label: 'Unsuspend', does: 'Lets the user sign in again. The password stays the same.', notice: 'user-unsuspended' },
  expire_password: {
    label: 'Expire the password',
    does: 'At the next sign-in the user types the present password and chooses another one. Sessions end.',
    notice: 'password-expired',
    danger: true,
  },
  reset_password: {
    label: 'Reset the password',
    does: 'The current password stops working. The user chooses a new one with a link. Sessions end.',
    notice: 'password-reset-by-mail',
    danger: true,
  },
  suspend: {
    label: 'Suspend',
    does: 'Keeps the user out for a while: sessions and tokens end. The account stays as it is.',
    notice: 'user-suspended',
    danger: true,
  },
  deactivate: {
    label: 'Deactivate',
    does: 'Ends sessions, tokens and API tokens, and keeps the user out until he is activated again. Only then can the account be deleted.',
    notice: 'user-deactivated',
    danger: true,
  },
};

const ORDER = Object.keys(STEPS) as LifecycleStep[];
const homeOf = (userId: string): string => `${addressOfUser(userId)}/life-cycle`;
/** Does the step make a link by which the user chooses a password? */
const makesLink = (step: LifecycleStep, { passwordHash }: UserSubject['user']): boolean =>
  step === 'reset_password' || (step === 'activate' && passwordHash === null);
const never = (date: Date | null) => (date === null ? { text: 'Never', soft: true } : { moment: momentOrNull(date) });

function stepsOf({ user, status }: UserSubject): readonly LifecycleStep[] {
  const possible = possibleSteps({ status, hasPassword: user.passwordHash !== null });
  return ORDER.filter((step) => possible.includes(step));
}

const show: ConsolePage = {
  path: '/users/:id/life-cycle',
  access: 'organizations',
  async show(visit) {
    const subject = await userSubject(visit);
    const { user, status, isChangeable } = subject;
    const home = homeOf(user.id);
    const facts: Fact[] = [
      { label: 'Status', value: userStatusPiece(status) },
      { label: 'Since', value: never(user.statusChanged) },
      ...(status === 'LOCKED_OUT' ? [{ label: 'Locked until', value: never(user.lockedUntil) }] : []),
      { label: 'Created', value: { moment: momentOf(user.created) } },
      { label: 'Activated', value: never(user.activated) },
      { label: 'Password', value: user.passwordHash === null ? 'None' : [{ text: 'Set' }, { moment: momentOrNull(user.passwordChanged) }] },
      { label: 'Last sign-in', value: never(user.lastLogin) },
    ];
    const rows = [
      ...stepsOf(subject).map((step) => ({ cells: [{ text: STEPS[step].label, href: `${home}/${step}` }, STEPS[step].does] })),
      {
        cells: [{ text: 'Set a password', href: `${home}/set-password` }, 'You type one and tell it to the user. Sessions and tokens end.'],
      },
      ...(status === 'DEPROVISIONED'
        ? [
            {
              cells: [
                { text: 'Delete', href: `${home}/delete` },
                'Takes the account away with all that is its own. This does not come back.',
              ],
            },
          ]
        : []),
    ];
    const steps = { kind: 'table' as const, title: 'What you can do', name: 'Steps', columns: ['Step', 'What it does'], rows, empty: '' };
    return userPage(visit, subject, [{ kind: 'facts', facts }, ...(isChangeable ? [steps] : [])]);
  },
};

/** @throws {ApiError} not found when there is no such step */
function stepIn({ params }: ConsoleRequest): LifecycleStep {
  const step = ORDER.find((one) => one === params.step);
  if (step === undefined) throw notFound(params.step ?? '', 'Step');
  return step;
}

const takeOne: ConsolePage = {
  path: '/users/:id/life-cycle/:step',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const step = stepIn(visit);
    const { label, does, danger = false } = STEPS[step];
    const ways = makesLink(step, user) ? waysTo(visit, user) : { fields: [], facts: [] };
    const page = { title: `${label}: ${name}?`, crumbs, facts: [does, ...ways.facts], fields: ways.fields, hidden: formKey() };
    return formPage({ ...page, submit: label, danger, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    const step = stepIn(visit);
    const home = homeOf(user.id);
    if (makesLink(step, user)) {
      const sendEmail = isByMail(visit, user, form);
      const make = step === 'activate' ? activateUser : resetPassword;
      return linkOnce(
        visit,
        form,
        [home, step, sendEmail],
        async (services) => ({ userId: user.id, login: user.login, url: await make(services, user.id, { sendEmail }, visit.request) }),
        // Activated without a link, and not by mail: he was given a password meanwhile.
        () => ({ goTo: home, notice: step === 'activate' && sendEmail ? 'user-activated-by-mail' : STEPS[step].notice }),
      );
    }
    await takeStep(visit.services, user.id, step, visit.request);
    return { goTo: home, notice: STEPS[step].notice };
  },
};

const passwordFields = (rules: string): readonly Field[] => [
  { name: 'password', label: 'New password', kind: 'secret', required: true, alias: 'credentials.password.value', hint: rules },
  {
    name: 'expire',
    label: 'The user chooses another one at the next sign-in',
    kind: 'check',
    checked: true,
    hint: 'You then no longer know it.',
  },
];
const newPassword = z.object({ password: z.string().min(1).max(1024), expire: z.boolean() });

const setPassword: ConsolePage = {
  path: '/users/:id/life-cycle/set-password',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const title = `Set a password for ${name}`;
    const facts = ['Sessions and tokens of the user end.'];
    const fields = passwordFields(await passwordRules(visit));
    return formPage({ title, crumbs, facts, fields, submit: 'Set password', cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    const { password, expire } = parse(newPassword, typedValues(passwordFields(''), form));
    await changeUser(visit.services, user.id, { password, expirePassword: expire }, visit.request);
    return { goTo: homeOf(user.id), notice: 'password-set' };
  },
};

const remove: ConsolePage = {
  path: '/users/:id/life-cycle/delete',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, status, crumbs } = await subjectToChange(visit);
    // What it would do else is to deactivate.
    if (status !== 'DEPROVISIONED') throw notFound('delete', 'Step');
    const title = `Delete ${name}?`;
    const facts = [
      'The account goes with its profile, memberships, groups, assignments, consents, factors and links. In the audit log its data is taken out; what happened stays.',
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Delete user', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user, status } = await subjectToChange(visit);
    if (status !== 'DEPROVISIONED') throw notFound('delete', 'Step');
    await deleteUser(visit.services, user.id, visit.request);
    return { goTo: USERS_HOME, notice: 'user-deleted' };
  },
};

export const lifeCycle: readonly ConsolePage[] = [show, setPassword, remove, takeOne];
