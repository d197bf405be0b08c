/** Security → Passwords: requirements for new passwords (NIST SP 800-63B section 3.1.1.2). */

import { BREACHED_RANGES, SHORTEST_PASSWORD } from '../../../config/defaults.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { counted, type Phrase, phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { changeSettings, DEFAULT_SETTINGS, readSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';
import { type BreachedPolicy, LONGEST_HISTORY, type PasswordPolicy } from './password.policy.ts';

const HOME = '/admin/security/passwords';

const BREACHED: Readonly<Record<BreachedPolicy, readonly [label: string, hint: string]>> = {
  OFF: ['Not looked up', 'Nothing leaves this service. The most common passwords are rejected all the same.'],
  RANGE_API: [
    'Looked up at a range server',
    'The first five digits of the SHA-1 of each new password are sent, never the password or its whole digest. If the server does not answer, the password is accepted.',
  ],
};

const fieldsOf = ({ minLength, historyCount, maxAgeDays, breached, breachedRangeUrl }: PasswordPolicy): readonly Field[] => [
  {
    name: 'minLength',
    label: 'Minimum length',
    kind: 'number',
    required: true,
    value: String(minLength),
    hint: phrase(
      '{least} to 128. NIST SP 800-63B requires 8 with a second factor, and 15 for a password alone. Length makes a password strong.',
      { least: SHORTEST_PASSWORD },
    ),
  },
  {
    name: 'historyCount',
    label: 'Password history',
    kind: 'number',
    required: true,
    value: String(historyCount),
    hint: phrase('The number of previous passwords, including the current one, that a user cannot choose again: 0 to {most}.', {
      most: LONGEST_HISTORY,
    }),
  },
  {
    name: 'maxAgeDays',
    label: 'Expires after',
    kind: 'duration',
    unit: 'day',
    value: maxAgeDays === null ? '' : String(maxAgeDays),
    hint: 'Empty: never, as NIST recommends: people who must change passwords choose weaker ones. Expire a password only when somebody else may know it.',
  },
  {
    name: 'breached',
    label: 'Breached passwords',
    kind: 'radios',
    value: breached,
    options: (Object.keys(BREACHED) as BreachedPolicy[]).map((value) => ({ value, label: BREACHED[value][0], hint: BREACHED[value][1] })),
  },
  {
    name: 'breachedRangeUrl',
    label: 'Range server',
    kind: 'url',
    when: { field: 'breached', value: 'RANGE_API' },
    value: breachedRangeUrl ?? '',
    hint: phrase('https, ending with /. Five digits are added to it. Empty: {address}', { address: verbatim(BREACHED_RANGES) }),
  },
];

const policy: ConsolePage = {
  path: '/security/passwords',
  access: 'service',
  async show({ services, request }) {
    const { minLength, historyCount, maxAgeDays, breached, breachedRangeUrl } = await readSettings(services, 'password');
    return detailPage({
      title: 'Passwords',
      lead: 'Rules for every new password.',
      crumbs: [{ label: 'Security' }],
      actions: mayCall(request.roles, 'service', 'write') ? [{ label: 'Edit', href: `${HOME}/edit`, main: true }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Minimum length', value: minLength },
            { label: 'Password history', value: historyCount === 0 ? phrase('No history') : historyCount },
            {
              label: 'Expires',
              value: maxAgeDays === null ? phrase('Never') : counted(maxAgeDays, 'After {count} day', 'After {count} days'),
            },
            { label: 'Breached passwords', value: phrase(BREACHED[breached][0]) },
            ...(breached === 'OFF' ? [] : [{ label: 'Range server', value: { text: breachedRangeUrl ?? BREACHED_RANGES, code: true } }]),
          ],
        },
        {
          kind: 'words',
          title: 'Fixed rules',
          paragraphs: [
            'The 49,000 most common passwords are rejected, also with digits or symbols added, and so are passwords made of the user’s names or of the name of this service.',
            'There are no rules about capitals, digits and symbols: they make passwords harder to remember, but no harder to guess (NIST SP 800-63B).',
            'Existing passwords stay as they are. The new rules apply to the next password.',
          ],
        },
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/security/passwords/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const fields = fieldsOf(await readSettings(services, 'password'));
    const crumbs = [{ label: 'Security' }, { label: 'Passwords', href: HOME }];
    return formPage({ title: 'Edit the password policy', crumbs, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const {
      maxAgeDays = null,
      minLength = '',
      historyCount = '',
      breached,
      breachedRangeUrl = null,
    } = typedValues(fieldsOf(DEFAULT_SETTINGS.password), form);
    const changes = parse(settingsBodies.password, {
      minLength,
      historyCount,
      maxAgeDays,
      breached,
      breachedRangeUrl: breachedRangeUrl || null,
    });
    await changeSettings(services, 'password', changes, request);
    return { goTo: HOME, notice: 'password-policy-changed' };
  },
};

export const passwordPolicyPages: readonly ConsolePage[] = [policy, edit];

export async function passwordRules({ services }: ConsoleRequest): Promise<Phrase> {
  const { minLength } = await readSettings(services, 'password');
  return phrase('At least {minLength} characters. Common passwords and parts of the user’s names are refused.', { minLength });
}
