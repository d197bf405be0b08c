/** Security → Sign-up: whether users can create accounts, with which data, and where the accounts belong. */
import { groupsIn, organizationsIn } from '../../pages/console/candidates.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickedId, pickField, pickManyField } from '../../pages/console/picker.ts';
import { type Phrase, phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { mayMail } from '../passwords/secret-link.console.ts';
import { readSettings } from '../settings/settings.service.ts';
import { WAITING_SIGN_UPS } from '../users/list.console.ts';
import { ATTRIBUTE_GROUPS } from '../users/profile-fields.console.ts';
import { WAITING } from '../users/user-status.console.ts';
import type { SignUpSettings } from './sign-up.policy.ts';
import { registrationBody } from './sign-up.resource.ts';
import { askableAttributes, changeRegistration, waitingSignUps } from './sign-up-fields.service.ts';

const HOME = '/admin/security/sign-up';
const CRUMBS = [{ label: 'Security' }, { label: 'Sign-up', href: HOME }];

const APPROVALS = {
  NONE: ['At once', 'The user is signed in as soon as the e-mail address is proved.'],
  ADMIN: ['After an administrator has activated it', 'The account waits for approval in the list of users.'],
} as const satisfies Record<SignUpSettings['approval'], readonly [string, string]>;

const labels = new Map(ATTRIBUTE_GROUPS.flatMap(({ attributes }) => attributes).map(({ name, label }) => [name as string, label]));
type Askable = Awaited<ReturnType<typeof askableAttributes>>;
/** A custom attribute has its own title. */
function labelOf(name: string, askable: Askable): Phrase {
  const label = labels.get(name);
  return label === undefined ? verbatim(askable.find((one) => one.name === name)?.title ?? name) : phrase(label);
}
const choices = (words: Readonly<Record<string, readonly [string, string]>>) =>
  Object.entries(words).map(([value, [label, hint]]) => ({ value, label, hint }));

const plainFields = (settings: SignUpSettings, askable: Askable): readonly Field[] => {
  const attributes = askable.map(({ name }) => ({ value: name, label: labelOf(name, askable) }));
  return [
    {
      ...{ name: 'enabled', label: 'Users can create their own accounts', kind: 'check', checked: settings.enabled },
      hint: 'An application can change this for its own sign-in page.',
    },
    {
      ...{
        name: 'asked',
        alias: 'fields[].name',
        label: 'The form asks for',
        kind: 'checks',
        options: attributes,
        values: settings.fields.map(({ name }) => name),
      },
      hint: 'In addition to the e-mail address, and to the password if users sign in with one.',
    },
    {
      ...{ name: 'required', label: 'Required attributes', kind: 'checks', options: attributes, isFolded: true },
      values: settings.fields.flatMap(({ name, required }) => (required ? [name] : [])),
    },
    { name: 'approval', label: 'The account is active', kind: 'radios', value: settings.approval, options: choices(APPROVALS) },
    {
      ...{
        name: 'allowedDomains',
        label: 'Allowed e-mail domains',
        kind: 'lines',
        advanced: true,
        value: settings.allowedDomains.join('\n'),
      },
      hint: 'One per line, such as example.com. Empty: all.',
    },
    {
      ...{
        name: 'blockedDomains',
        label: 'Blocked e-mail domains',
        kind: 'lines',
        advanced: true,
        value: settings.blockedDomains.join('\n'),
      },
      hint: 'One per line.',
    },
    {
      ...{ name: 'termsUrl', label: 'Terms of service', kind: 'url', value: settings.termsUrl ?? '' },
      hint: 'New users must accept them. Empty: nothing is accepted.',
    },
    { name: 'privacyUrl', label: 'Privacy policy', kind: 'url', value: settings.privacyUrl ?? '' },
  ];
};

const groupField = (visit: ConsoleRequest, { groups }: SignUpSettings, typed: Typed): Promise<Field> =>
  pickManyField(groupsIn(visit), { name: 'groups', label: 'New users join these groups', what: 'groups', ids: groups }, typed);
const organizationField = (visit: ConsoleRequest, { organization }: SignUpSettings, typed: Typed): Promise<Field> =>
  pickField(
    organizationsIn(visit),
    { name: 'organization', label: 'New users join this organization', value: organization ?? '', none: 'No organization' },
    typed,
  );

const show: ConsolePage = {
  path: '/security/sign-up',
  access: 'service',
  async show(visit) {
    const settings = await readSettings(visit.services, 'registration');
    const askable = await askableAttributes(visit.services);
    const { enabled, fields, approval, allowedDomains, blockedDomains, termsUrl, groups } = settings;
    const domains = (values: readonly string[], none: string) => (values.length === 0 ? phrase(none) : series(values));
    const waiting = await waitingSignUps(visit.services);
    const isStuck = enabled && !(await mayMail(visit));
    return detailPage({
      title: 'Sign-up',
      lead: 'Users create their own accounts. The e-mail address is proved before anything is stored under it.',
      crumbs: [{ label: 'Security' }],
      status: enabled ? { text: 'On', tone: 'good' } : { text: 'Off', tone: 'plain' },
      actions: mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Edit', href: `${HOME}/edit`, main: true }] : [],
      parts: [
        ...(isStuck
          ? [{ kind: 'words' as const, tone: 'warning' as const, paragraphs: ['This service cannot send e-mail, so nobody can sign up.'] }]
          : []),
        {
          kind: 'facts',
          facts: [
            {
              label: 'The form asks for',
              value: series(
                fields.map(({ name, required }) =>
                  required ? phrase('{field} (required)', { field: labelOf(name, askable) }) : labelOf(name, askable),
                ),
              ),
            },
            { label: 'The account is active', value: phrase(APPROVALS[approval][0]) },
            ...(approval === 'ADMIN' || waiting > 0
              ? [{ label: WAITING, value: { text: countOf(waiting, 'user'), href: WAITING_SIGN_UPS } }]
              : []),
            { label: 'Allowed e-mail domains', value: domains(allowedDomains, 'All') },
            { label: 'Blocked e-mail domains', value: domains(blockedDomains, 'None') },
            { label: 'Groups of new users', value: verbatim(String(groups.length)) },
            { label: 'Terms of service', value: verbatim(termsUrl ?? '–') },
            { label: 'The page', value: '/signup', copy: true },
          ],
        },
      ],
    });
  },
};

const lines = (typed: unknown): readonly string[] =>
  (Array.isArray(typed) ? typed : String(typed ?? '').split('\n')).map((line) => String(line).trim()).filter((line) => line !== '');

const edit: ConsolePage = {
  path: '/security/sign-up/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const settings = await readSettings(visit.services, 'registration');
    const fields = [
      ...plainFields(settings, await askableAttributes(visit.services)),
      await groupField(visit, settings, typed),
      await organizationField(visit, settings, typed),
    ];
    return formPage({ title: 'Edit sign-up', crumbs: CRUMBS, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive(visit, form) {
    const settings = await readSettings(visit.services, 'registration');
    const askable = await askableAttributes(visit.services);
    const typed = typedValues(plainFields(settings, askable), form);
    const asked = new Set(form.getAll('asked'));
    const required = new Set(form.getAll('required'));
    const before = settings.fields.map(({ name }) => name);
    // Existing ones keep their order, which the API sets.
    const names = [...before, ...askable.map(({ name }) => name).filter((name) => !before.includes(name))].filter(
      (name) => asked.has(name) || required.has(name),
    );
    const changes = {
      enabled: typed.enabled,
      fields: names.map((name) => ({ name, required: required.has(name) })),
      approval: typed.approval,
      allowedDomains: lines(typed.allowedDomains),
      blockedDomains: lines(typed.blockedDomains),
      termsUrl: typed.termsUrl === '' ? null : typed.termsUrl,
      privacyUrl: typed.privacyUrl === '' ? null : typed.privacyUrl,
      groups: form.getAll('groups').filter((id) => id !== ''),
      organization: (await pickedId(organizationsIn(visit), 'organization', form.get('organization') ?? '')) ?? null,
    };
    await changeRegistration(visit.services, parse(registrationBody, changes), visit.request);
    return { goTo: HOME, notice: 'sign-up-changed' };
  },
};

export const signUpPages: readonly ConsolePage[] = [show, edit];
