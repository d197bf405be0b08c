/** Changes of a user's status, a new password, and the deletion of the account. */

import { z } from 'zod';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey } from '../../pages/console/submit-once.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { type Phrase, phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { passwordRules } from '../passwords/passwords.console.ts';
import { isByMail, linkDelivery, linkOnce } from '../passwords/secret-link.console.ts';
import type { LifecycleStep } from './user-lifecycle.policy.ts';
import { activateUser, deleteUser, reactivateUser, refuseSignUp, resetPassword, takeStep } from './user-lifecycle.service.ts';
import { addressOfUser, subjectToChange, USERS_HOME, type UserSubject } from './user-page.console.ts';
import { ORDER, stepOf } from './user-steps.console.ts';
import { changeUser } from './users.service.ts';

const MAKE = { activate: activateUser, reactivate: reactivateUser, reset_password: resetPassword } as const;

/** Does the step create a link by which the user chooses a password? */
const makesLink = (step: LifecycleStep, { passwordHash }: UserSubject['user']): step is keyof typeof MAKE =>
  step in MAKE && (step !== 'activate' || passwordHash === null);

/** Steps with an optional notification e-mail. */
const NOTIFYING: Readonly<Partial<Record<LifecycleStep, typeof activateUser>>> = { activate: activateUser, refuse: refuseSignUp };

/** Steps that another one reverses. Activating again requires a new password or a link. */
const REVERSED: Readonly<Partial<Record<LifecycleStep, LifecycleStep>>> = { suspend: 'unsuspend', unsuspend: 'suspend' };

const ENDS_SESSIONS: readonly LifecycleStep[] = ['expire_password', 'reset_password', 'suspend', 'deactivate'];

/** @throws {ApiError} not found: there is no such step */
function stepIn({ params }: ConsoleRequest): LifecycleStep {
  const step = ORDER.find((one) => one === params.step);
  if (step === undefined) throw notFound(params.step ?? '', 'Step');
  return step;
}

/** Numbers of sessions and API tokens that a step ends. */
async function whatEnds({ services }: ConsoleRequest, step: LifecycleStep, id: string): Promise<readonly Phrase[]> {
  if (!ENDS_SESSIONS.includes(step)) return [];
  const { sessions, tokens } = await affectedBy(services, 'signIns', { id });
  const numbers = { sessions: affectedCount(sessions, 'session'), tokens: affectedCount(tokens, 'API token') };
  return [step === 'deactivate' ? phrase('This ends {sessions} and {tokens}.', numbers) : phrase('This ends {sessions}.', numbers)];
}

const takeOne: ConsolePage = {
  path: '/users/:id/life-cycle/:step',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const step = stepIn(visit);
    const { label, does, danger = false } = stepOf(step, user);
    const ways = makesLink(step, user) ? await linkDelivery(visit, user) : { fields: [], facts: [] };
    const page = {
      title: phrase('{step}: {name}?', { step: phrase(label), name }),
      crumbs,
      facts: [does, ...(await whatEnds(visit, step, user.id)), ...ways.facts],
      fields: ways.fields,
      hidden: formKey(),
    };
    return formPage({ ...page, submit: label, danger, cancel: addressOfUser(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    const step = stepIn(visit);
    const home = addressOfUser(user.id);
    if (makesLink(step, user)) {
      const sendEmail = await isByMail(visit, user, form);
      return linkOnce(
        visit,
        form,
        [home, step, sendEmail],
        async (services) => ({
          userId: user.id,
          login: user.login,
          url: await MAKE[step](services, user.id, { sendEmail }, visit.request),
        }),
        // Activated without a link or e-mail: the user has set a password meanwhile.
        () => ({ goTo: home, notice: step === 'activate' && sendEmail ? 'user-activated-by-mail' : stepOf(step, user).notice }),
      );
    }
    const notifying = NOTIFYING[step];
    if (notifying === undefined) await takeStep(visit.services, user.id, step, visit.request);
    else await notifying(visit.services, user.id, { sendEmail: true }, visit.request);
    const undo = REVERSED[step];
    return { goTo: home, notice: stepOf(step, user).notice, undo: undo && { href: `${home}/life-cycle/${undo}` } };
  },
};

const passwordFields = (rules: Phrase): readonly Field[] => [
  { name: 'password', label: 'New password', kind: 'secret', required: true, alias: 'credentials.password.value', hint: rules },
  {
    name: 'expire',
    label: 'The user chooses a new one at the next sign-in',
    kind: 'check',
    checked: true,
    hint: 'Afterwards only the user knows the password.',
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
    const title = phrase('Set a password for {name}', { name });
    const facts = ['Sessions and tokens of the user end.'];
    const fields = passwordFields(await passwordRules(visit));
    return formPage({ title, crumbs, facts, fields, submit: 'Set password', cancel: addressOfUser(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    const { password, expire } = parse(newPassword, typedValues(passwordFields(verbatim('')), form));
    await changeUser(visit.services, user.id, { password, expirePassword: expire }, visit.request);
    return { goTo: addressOfUser(user.id), notice: 'password-set' };
  },
};

const remove: ConsolePage = {
  path: '/users/:id/life-cycle/delete',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, status, crumbs } = await subjectToChange(visit);
    // Otherwise the step would deactivate the user.
    if (status !== 'DEPROVISIONED') throw notFound('delete', 'Step');
    const title = phrase('Delete {name}?', { name });
    const affected = await affectedBy(visit.services, 'user', { id: user.id });
    const facts = [
      phrase('The account is deleted with its profile, its factors and {consents}, and removed from {organizations}.', {
        consents: affectedCount(affected.consents, 'consent'),
        organizations: affectedCount(affected.organizations, 'organization'),
      }),
      // Groups and applications belong to the service, not to an organization.
      ...(mayCall(visit.request.roles, 'service', 'read')
        ? [
            phrase('It also loses {groups}, {applications} and {links}.', {
              groups: affectedCount(affected.groups, 'group'),
              applications: affectedCount(affected.applications, 'application'),
              links: affectedCount(affected.links, 'linked account'),
            }),
          ]
        : []),
      'Its personal data is removed from the audit log; the events stay.',
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Delete user', danger: true, cancel: addressOfUser(user.id) }, typed);
  },
  async receive(visit) {
    const { user, status } = await subjectToChange(visit);
    if (status !== 'DEPROVISIONED') throw notFound('delete', 'Step');
    await deleteUser(visit.services, user.id, visit.request);
    return { goTo: USERS_HOME, notice: 'user-deleted' };
  },
};

export const lifeCycle: readonly ConsolePage[] = [setPassword, remove, takeOne];
