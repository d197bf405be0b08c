/** Security → Sessions: how long browsers stay signed in (settings/sign-in). The page of the sign-in policy has the second factor. */

import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, Crumb } from '../../pages/console/page.ts';
import { counted, type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { changeSettings, DEFAULT_SETTINGS, readSettings, type SignInSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';

const HOME = '/admin/security/sessions';
const CRUMBS: readonly Crumb[] = [{ label: 'Security' }, { label: 'Sessions', href: HOME }];

const days = (count: number): Phrase => counted(count, '{count} day', '{count} days');
const hours = (count: number): Phrase => counted(count, '{count} hour', '{count} hours');
/** Long spans are hard to read in minutes. */
const inWords = (minutes: number): Phrase => {
  const exact = counted(minutes, '{count} minute', '{count} minutes');
  if (minutes < 60) return exact;
  if (minutes % 1440 === 0) return days(minutes / 1440);
  if (minutes % 60 === 0) return hours(minutes / 60);
  if (minutes < 120) return exact;
  const rounded = minutes < 2880 ? hours(Math.round(minutes / 60)) : days(Math.round(minutes / 1440));
  return phrase('{minutes} (about {rounded})', { minutes: exact, rounded });
};

const show: ConsolePage = {
  path: '/security/sessions',
  access: 'service',
  async show({ services, request }) {
    const { sessionIdleMinutes, sessionLifetimeDays } = await readSettings(services, 'sign-in');
    const edit = { label: 'Edit', href: `${HOME}/edit`, main: true };
    return detailPage({
      title: 'Sessions',
      lead: 'A session is one browser in which a user is signed in. While it lasts, applications sign the user in without asking.',
      crumbs: CRUMBS.slice(0, 1),
      actions: mayCall(request.roles, 'service', 'write') ? [edit] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Ends without use after', value: inWords(sessionIdleMinutes) },
            { label: 'Ends at the latest after', value: days(sessionLifetimeDays) },
          ],
        },
        {
          kind: 'words',
          paragraphs: [
            'The sessions of one user, and how to end them, are on the page of the user, under Sessions.',
            'Each authorization server sets the lifetimes of its tokens.',
          ],
        },
      ],
    });
  },
};

const fieldsFor = ({ sessionIdleMinutes, sessionLifetimeDays }: SignInSettings): readonly Field[] => [
  {
    name: 'sessionIdleMinutes',
    label: 'Idle timeout',
    kind: 'duration',
    unit: 'minute',
    required: true,
    value: String(sessionIdleMinutes),
    hint: phrase(
      'At most 30 days. A session that is not used for this long ends. Default: {hours} hours. Shorter is safer where people share computers.',
      {
        hours: DEFAULT_SETTINGS['sign-in'].sessionIdleMinutes / 60,
      },
    ),
  },
  {
    name: 'sessionLifetimeDays',
    label: 'Maximum session age',
    kind: 'duration',
    unit: 'day',
    required: true,
    value: String(sessionLifetimeDays),
    hint: phrase('At most 365 days. A session ends then, however much it is used. Default: {days} days.', {
      days: DEFAULT_SETTINGS['sign-in'].sessionLifetimeDays,
    }),
  },
];

const edit: ConsolePage = {
  path: '/security/sessions/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const fields = fieldsFor(await readSettings(services, 'sign-in'));
    const facts = ['Changes also apply to existing sessions, from their next use.'];
    return formPage({ title: 'Edit sessions', crumbs: CRUMBS, facts, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    const changes = parse(settingsBodies['sign-in'], typedValues(fieldsFor(DEFAULT_SETTINGS['sign-in']), form));
    await changeSettings(services, 'sign-in', changes, request);
    return { goTo: HOME, notice: 'sessions-changed' };
  },
};

export const sessionLifetimes: readonly ConsolePage[] = [show, edit];
