/** Security → Passwords: what is asked of new passwords (NIST SP 800-63B section 3.1.1.2). */

import { SHORTEST_PASSWORD } from '../../../config/defaults.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { counted, type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { changeSettings, DEFAULT_SETTINGS, readSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';
import { LONGEST_HISTORY, type PasswordPolicy } from './password.policy.ts';

const HOME = '/admin/security/passwords';

const fieldsOf = ({ minLength, historyCount, maxAgeDays }: PasswordPolicy): readonly Field[] => [
  {
    name: 'minLength',
    label: 'Minimum length',
    kind: 'number',
    required: true,
    value: String(minLength),
    hint: phrase(
      '{least} to 128. NIST SP 800-63B asks for 8 with a second factor, and for 15 where the password is all that is asked. Length is what makes a password strong.',
      { least: SHORTEST_PASSWORD },
    ),
  },
  {
    name: 'historyCount',
    label: 'Password history',
    kind: 'number',
    required: true,
    value: String(historyCount),
    hint: phrase('0 to {most} passwords of the user, the present one among them, cannot be chosen again. 0: any can.', {
      most: LONGEST_HISTORY,
    }),
  },
  {
    name: 'maxAgeDays',
    label: 'Expires after (days)',
    kind: 'number',
    value: maxAgeDays === null ? '' : String(maxAgeDays),
    hint: 'Empty: never, as NIST recommends: people who must change passwords choose weaker ones. Expire a password when it has become known instead.',
  },
];

const policy: ConsolePage = {
  path: '/security/passwords',
  access: 'service',
  async show({ services, request }) {
    const { minLength, historyCount, maxAgeDays } = await readSettings(services, 'password');
    return detailPage({
      title: 'Passwords',
      lead: 'Rules for every new password.',
      crumbs: [{ label: 'Security' }],
      actions: mayCall(request.roles, 'service', 'write') ? [{ label: 'Change', href: `${HOME}/edit`, main: true }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Minimum length', value: minLength },
            { label: 'Password history', value: historyCount === 0 ? phrase('Any can be chosen again') : historyCount },
            {
              label: 'Expires',
              value: maxAgeDays === null ? phrase('Never') : counted(maxAgeDays, 'After {count} day', 'After {count} days'),
            },
          ],
        },
        {
          kind: 'words',
          title: 'Always so',
          paragraphs: [
            'The 49,000 most common passwords are rejected, also with digits or symbols added, and so are passwords made of the user’s names or of the name of this service.',
            'There are no rules about capitals, digits and marks: they make passwords harder to remember, and no harder to guess (NIST SP 800-63B).',
            'Passwords that people have already stay as they are. What is new here is asked of the next one.',
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
    return formPage({ title: 'Change the password policy', crumbs, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const { maxAgeDays = null, minLength = '', historyCount = '' } = typedValues(fieldsOf(DEFAULT_SETTINGS.password), form);
    const changes = parse(settingsBodies.password, { minLength, historyCount, maxAgeDays });
    await changeSettings(services, 'password', changes, request);
    return { goTo: HOME, notice: 'password-policy-changed' };
  },
};

export const passwordPolicyPages: readonly ConsolePage[] = [policy, edit];

export async function passwordRules({ services }: ConsoleRequest): Promise<Phrase> {
  const { minLength } = await readSettings(services, 'password');
  return phrase('{minLength} characters at least; none that everybody tries first, and nothing made of the user’s names.', { minLength });
}
