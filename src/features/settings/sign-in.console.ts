/** Security → Sign-in policy: the first step of the sign-in page, and who needs a second factor. Session lifetimes are under Sessions. */

import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { counted, phrase, series } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { MESSAGE_FACTORS, type MessageFactorName } from '../message-factors/message-factors.policy.ts';
import { isInGrace, type MfaPolicy } from '../second-factors/second-factor.policy.ts';
import { signInRulesTable } from '../sign-in-rules/sign-in-rules.console.ts';
import { LONGEST_TRUST } from '../trusted-browsers/trusted-browsers.policy.ts';
import {
  changeSettings,
  DEFAULT_SETTINGS,
  readSettings,
  SIGN_IN_METHODS,
  type SignInMethod,
  type SignInSettings,
} from './settings.service.ts';
import { settingsBodies } from './settings-fields.service.ts';

const HOME = '/admin/security/sign-in-policy';

const MFA: Readonly<Record<MfaPolicy, readonly [label: string, hint: string]>> = {
  OPTIONAL: ['Users who have set one up', 'Users who have set one up are asked for it at every sign-in. Other users are not asked.'],
  ADMINISTRATORS: ['Administrators', 'As above, and administrators must have one. Those without one set it up at their next sign-in.'],
  EVERYONE: ['Everyone', 'All users must have one. Those without one set it up at their next sign-in; the password grant refuses them.'],
};

const options = (Object.keys(MFA) as MfaPolicy[]).map((value) => ({ value, label: MFA[value][0], hint: MFA[value][1] }));

const METHODS: Readonly<Record<SignInMethod, readonly [label: string, hint: string]>> = {
  password: ['Password', 'Also for “Forgot password?”, the password grant and sign-in by API.'],
  passkey: ['Passkey', 'Without a user name. As a second factor a passkey can always be used.'],
  email: ['Code by e-mail', 'A code and a link go to the address of the account. Needs a mail server.'],
};

const methodOptions = SIGN_IN_METHODS.map((value) => ({ value, label: METHODS[value][0], hint: METHODS[value][1] }));

const MESSAGES: Readonly<Record<MessageFactorName, readonly [label: string, hint: string]>> = {
  email: ['Code by e-mail', 'To the e-mail address of the account. It does not protect against somebody who can read the mailbox.'],
  sms: ['Text message', 'To a phone, by the webhook under Settings → Telephony.'],
  call: ['Phone call', 'As a text message, but read aloud.'],
};

const messageOptions = MESSAGE_FACTORS.map((value) => ({ value, label: MESSAGES[value][0], hint: MESSAGES[value][1] }));

const fieldsOf = ({
  identifierFirst,
  methods,
  mfa,
  mfaFrom,
  messageFactors,
  rememberBrowserDays,
  passkeyOffer,
  passwordOptional,
}: SignInSettings): readonly Field[] => [
  { name: 'methods', label: 'Users sign in by', kind: 'checks', values: methods, options: methodOptions },
  {
    name: 'passkeyOffer',
    label: 'Offer passkeys',
    kind: 'check',
    checked: passkeyOffer,
    hint: 'After a sign-in without one. Users who decline are not asked again.',
  },
  {
    name: 'passwordOptional',
    label: 'Accounts without a password',
    kind: 'check',
    checked: passwordOptional,
    hint: 'Users may sign up with a passkey alone, and users who have one may remove their password. Needs the passkey above.',
  },
  {
    name: 'identifierFirst',
    label: 'The sign-in page asks for',
    kind: 'radios',
    value: String(identifierFirst),
    options: [
      { value: 'false', label: 'User name and password together', hint: 'One step fewer, and password managers work best with it.' },
      {
        value: 'true',
        label: 'The user name first',
        hint: 'The password is on the next page, whether the account exists or not, so nobody learns which names exist.',
      },
    ],
  },
  { name: 'mfa', label: 'Second factor required for', kind: 'radios', value: mfa, options },
  {
    name: 'mfaFrom',
    label: 'Required from (UTC)',
    kind: 'date-time',
    value: mfaFrom?.slice(0, 16) ?? '',
    hint: 'Until then, only users with a second factor are asked for it. Empty: required immediately.',
  },
  {
    name: 'messageFactors',
    label: 'Codes as a second factor',
    kind: 'checks',
    values: messageFactors,
    options: messageOptions,
    hint: 'Weaker than apps and passkeys, which users can always set up. Users lose their second factor if you turn off its type.',
  },
  {
    name: 'rememberBrowserDays',
    label: 'Trusted browsers',
    kind: 'duration',
    unit: 'day',
    value: String(rememberBrowserDays),
    hint: phrase('{how} Empty: {none}.', {
      how: phrase(
        '0 to {most}. Users can skip the second factor for this long in a browser that they trust. Administrators cannot. 0: nobody can.',
        { most: LONGEST_TRUST },
      ),
      none: 0,
    }),
  },
];

const policy: ConsolePage = {
  path: '/security/sign-in-policy',
  access: 'service',
  async show(visit) {
    const { services, request } = visit;
    const settings = await readSettings(services, 'sign-in');
    const { mfa, mfaFrom, identifierFirst, methods, messageFactors, rememberBrowserDays, passkeyOffer, passwordOptional } = settings;
    const [who, meaning] = MFA[mfa];
    const begin =
      mfaFrom !== null && isInGrace(settings, present())
        ? [{ label: 'Required from', value: { moment: momentOf(new Date(mfaFrom)) } }]
        : [];
    return detailPage({
      title: 'Sign-in policy',
      lead: 'The second factors that users are asked for at sign-in.',
      crumbs: [{ label: 'Security' }],
      actions: mayCall(request.roles, 'service', 'write') ? [{ label: 'Edit', href: `${HOME}/edit`, main: true }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Users sign in by', value: series(methods.map((method) => phrase(METHODS[method][0]))) },
            { label: 'Offer passkeys', value: phrase(passkeyOffer ? 'Yes' : 'No') },
            { label: 'Accounts without a password', value: phrase(passwordOptional ? 'Allowed' : 'Not allowed') },
            {
              label: 'The sign-in page asks for',
              value: phrase(identifierFirst ? 'The user name first' : 'User name and password together'),
            },
            { label: 'Second factor', value: phrase(who) },
            ...begin,
            {
              label: 'Codes as a second factor',
              value: messageFactors.length === 0 ? phrase('Not allowed') : series(messageFactors.map((type) => phrase(MESSAGES[type][0]))),
            },
            {
              label: 'Trusted browsers',
              value:
                rememberBrowserDays === 0 ? phrase('Not allowed') : counted(rememberBrowserDays, 'For {count} day', 'For {count} days'),
            },
            { label: 'How long a sign-in counts', value: { text: phrase('Set under Sessions'), href: '/admin/security/sessions' } },
          ],
        },
        signInRulesTable(visit, settings.rules),
        {
          kind: 'words',
          title: 'Explanation',
          paragraphs: [
            meaning,
            'An application can require more, by its own setting or by acr_values in a request. No application can require less.',
            'Users who lose their second factor can use a recovery code, or ask an administrator to reset their factors.',
          ],
        },
      ],
    });
  },
};

/** @returns an ISO time, null for an empty field, or the input unchanged, which the schema refuses */
const momentTyped = (typed: unknown): unknown =>
  typed instanceof Date ? (Number.isNaN(typed.getTime()) ? '' : typed.toISOString()) : (typed ?? null);

const edit: ConsolePage = {
  path: '/security/sign-in-policy/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const fields = fieldsOf(await readSettings(services, 'sign-in'));
    const crumbs = [{ label: 'Security' }, { label: 'Sign-in policy', href: HOME }];
    return formPage({ title: 'Edit the sign-in policy', crumbs, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const typed = typedValues(fieldsOf(DEFAULT_SETTINGS['sign-in']), form);
    const { methods, mfa, mfaFrom, identifierFirst, messageFactors, rememberBrowserDays = 0, passkeyOffer, passwordOptional } = typed;
    const rest = { mfaFrom: momentTyped(mfaFrom), identifierFirst: identifierFirst === 'true' };
    const changes = { methods, mfa, messageFactors, ...rest, rememberBrowserDays, passkeyOffer, passwordOptional };
    await changeSettings(services, 'sign-in', parse(settingsBodies['sign-in'], changes), request);
    return { goTo: HOME, notice: 'sign-in-policy-changed' };
  },
};

export const signInPolicyPages: readonly ConsolePage[] = [policy, edit];
