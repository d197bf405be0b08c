/** Settings → Mail → Edit: the mail server that is set here. */
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { MAIL_SECURITY, type MailSecurity, mailSettingsBody } from './mail-settings.resource.ts';
import { readMailSettings, replaceMailSettings, type ShownMailSettings } from './mail-settings.service.ts';

const HOME = '/admin/settings/mail';
const CRUMBS = [{ label: 'Settings' }, { label: 'Mail', href: HOME }];

export const SECURITY: Readonly<Record<MailSecurity, readonly [label: string, hint: string]>> = {
  STARTTLS: ['STARTTLS', 'Required. Usually port 587.'],
  TLS: ['TLS', 'From the beginning. Usually port 465.'],
  OPPORTUNISTIC: [
    'STARTTLS where offered',
    'Without encryption where the server offers none. Only for servers without a sign-in, or on this machine.',
  ],
};

const fieldsOf = (held: ShownMailSettings): readonly Field[] => [
  {
    name: 'host',
    label: 'Host',
    value: held.host ?? '',
    hint: 'For example mail.example.com. Leave it empty to send no e-mail.',
    group: 'Server',
  },
  {
    name: 'port',
    label: 'Port',
    kind: 'number',
    value: held.port === null ? '' : String(held.port),
    hint: 'Leave it empty for 587, or 465 with TLS.',
    group: 'Server',
    advanced: true,
  },
  {
    ...{ name: 'security', label: 'Encryption', kind: 'radios', value: held.security, group: 'Server' },
    options: MAIL_SECURITY.map((value) => ({ value, label: SECURITY[value][0], hint: SECURITY[value][1] })),
  },
  {
    name: 'username',
    label: 'User name',
    value: held.username ?? '',
    hint: 'Leave it empty if the server asks for no sign-in.',
    group: 'Sign-in',
  },
  {
    ...{ name: 'password', label: 'Password', kind: 'secret', group: 'Sign-in' },
    hint: held.passwordSet ? 'A password is stored. Leave the field empty to keep it.' : 'Stored encrypted and never shown.',
  },
  { name: 'fromAddress', label: 'Address', kind: 'email', value: held.fromAddress ?? '', group: 'Sender' },
  {
    name: 'fromName',
    label: 'Name',
    value: held.fromName ?? '',
    hint: 'Leave it empty for the name under Branding.',
    group: 'Sender',
    advanced: true,
  },
  {
    name: 'replyTo',
    label: 'Reply to',
    kind: 'email',
    value: held.replyTo ?? '',
    hint: 'Leave it empty if replies go to the sender.',
    group: 'Sender',
    advanced: true,
  },
];

export const editMailServer: ConsolePage = {
  path: '/settings/mail/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const fields = fieldsOf(await readMailSettings(services));
    return formPage({ title: 'Edit the mail server', crumbs: CRUMBS, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const held = await readMailSettings(services);
    const typed = Object.entries(typedValues(fieldsOf(held), form)).map(([name, value]): [string, unknown] => {
      const text = typeof value === 'string' && name !== 'password' ? value.trim() : value;
      return [name, text === '' || text === undefined ? null : text];
    });
    const { password, ...rest } = Object.fromEntries(typed);
    const body = parse(mailSettingsBody, { ...rest, ...(password !== null && { password }) });
    await replaceMailSettings(services, body, request);
    return { goTo: HOME, notice: 'mail-server-changed' };
  },
};
