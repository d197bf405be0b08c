/** Settings → Telephony: the webhook that sends codes to phones, and a test message. */
import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { phrase, series, type Text } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { NO_TELEPHONY, telephonySettingsBody } from './telephony-settings.resource.ts';
import { readTelephony, replaceTelephony, type ShownTelephony, type TriedTelephony, tryTelephony } from './telephony-settings.service.ts';

const HOME = '/admin/settings/telephony';
const CRUMBS = [{ label: 'Settings' }, { label: 'Telephony', href: HOME }];

const MEANING: Part = {
  kind: 'words',
  title: 'Explanation',
  paragraphs: [
    'Users get codes by text message or phone call as a second factor, if the sign-in policy allows it. Your webhook sends them; nothing is built in.',
    'Each message costs money. Allow only countries in which you have users, and keep the daily limit low.',
  ],
};

const page: ConsolePage = {
  path: '/settings/telephony',
  access: 'service',
  async show({ services, request }) {
    const { url, prefixes, mostPerDay } = await readTelephony(services);
    const mayWrite = mayCall(request.roles, 'service', 'write');
    const state: Part =
      url === null
        ? { kind: 'words', tone: 'warning', paragraphs: ['There is no webhook, so no codes are sent to phones. Set one up.'] }
        : {
            kind: 'facts',
            facts: [
              { label: 'Webhook', value: { text: url, code: true } },
              { label: 'Country codes', value: series(prefixes) },
              { label: 'Messages in 24 hours', value: mostPerDay },
            ],
          };
    return detailPage({
      title: 'Telephony',
      lead: 'The webhook that sends codes to phones.',
      crumbs: CRUMBS.slice(0, 1),
      actions: mayWrite
        ? [
            { label: url === null ? 'Set up a webhook' : 'Edit', href: `${HOME}/edit`, main: url === null },
            ...(url === null ? [] : [{ label: 'Send test message', href: `${HOME}/test`, main: true }]),
          ]
        : [],
      parts: [state, MEANING],
    });
  },
};

const fieldsOf = ({ url, secretSet, prefixes, mostPerDay }: ShownTelephony): readonly Field[] => [
  { name: 'url', label: 'Webhook', kind: 'url', value: url ?? '', hint: 'Begins with https://. Leave it empty to send no messages.' },
  {
    ...{ name: 'secret', label: 'Signing secret', kind: 'secret' },
    hint: secretSet
      ? 'A secret is stored. Leave the field empty to keep it. For another host, enter it again.'
      : 'whsec_ and at least 24 random bytes in base64. Your webhook checks the signature with it.',
  },
  {
    name: 'prefixes',
    label: 'Country codes',
    value: prefixes.join(' '),
    hint: 'Only numbers with these prefixes get messages, e.g. +49 +43.',
  },
  {
    name: 'mostPerDay',
    label: 'Messages in 24 hours',
    kind: 'number',
    value: String(mostPerDay),
    hint: phrase('{how} Empty: {none}.', { how: phrase('At most, for the whole service.'), none: NO_TELEPHONY.mostPerDay }),
  },
];

const edit: ConsolePage = {
  path: '/settings/telephony/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const fields = fieldsOf(await readTelephony(services));
    return formPage({ title: 'Edit the webhook', crumbs: CRUMBS, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const { url = '', secret = '', prefixes = '', mostPerDay } = typedValues(fieldsOf(await readTelephony(services)), form);
    const typed = {
      ...{ url: String(url).trim() === '' ? null : url, mostPerDay: mostPerDay ?? NO_TELEPHONY.mostPerDay },
      prefixes: String(prefixes)
        .split(/[\s,;]+/)
        .filter(Boolean),
      ...(secret !== '' && { secret }),
    };
    await replaceTelephony(services, parse(telephonySettingsBody, typed), request);
    return { goTo: HOME, notice: 'telephony-changed' };
  },
};

const TEST_FIELDS: readonly Field[] = [
  {
    name: 'phoneNumber',
    label: 'Phone number',
    kind: 'tel',
    required: true,
    value: '',
    hint: 'With its country code, such as +49 30 901820.',
  },
  {
    name: 'channel',
    label: 'By',
    kind: 'radios',
    value: 'SMS',
    options: [
      { value: 'SMS', label: 'Text message' },
      { value: 'CALL', label: 'Phone call' },
    ],
  },
];

const TEST_FORM = {
  title: 'Send test message',
  crumbs: CRUMBS,
  facts: ['The message contains the code 00000000, which is not valid. It counts towards the limits.'],
  fields: TEST_FIELDS,
  submit: 'Send test message',
  cancel: HOME,
};

const PROBLEMS: Readonly<Record<Exclude<TriedTelephony['outcome'], 'SENT' | 'TELEPHONY_FAILED'>, string>> = {
  TELEPHONY_OFF: 'There is no webhook.',
  NUMBER_NOT_ALLOWED: 'The number does not begin with an allowed country code.',
  TOO_MANY_REQUESTS: 'Too many messages were sent recently. Try again in an hour.',
};

const problemOf = ({ outcome, problem, status }: TriedTelephony): Text =>
  outcome === 'SENT' || outcome === 'TELEPHONY_FAILED'
    ? phrase('The webhook refused the message: {problem}, status {status}.', { problem: problem ?? '', status: status ?? '–' })
    : PROBLEMS[outcome];

const test: ConsolePage = {
  path: '/settings/telephony/test',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    return formPage(TEST_FORM, typed);
  },
  async receive(visit, form) {
    const { phoneNumber = '', channel } = typedValues(TEST_FIELDS, form);
    const tried = await tryTelephony(visit.services, String(phoneNumber).slice(0, 40), channel === 'CALL' ? 'CALL' : 'SMS', visit.request);
    if (tried.outcome === 'SENT') return { goTo: HOME, notice: 'test-message-sent' };
    return formPage(TEST_FORM, { values: form, problems: [{ message: problemOf(tried) }] });
  },
};

export const telephonyPages: readonly ConsolePage[] = [page, edit, test];
