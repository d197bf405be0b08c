/** Security → Bots: where browsers must send a proof of work. */
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { changeSettings, readSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';
import {
  BOT_DEFAULTS,
  BOT_MODES,
  BOT_PURPOSES,
  type BotMode,
  type BotPurpose,
  type BotSettings,
  LIMITS_WITHOUT_PROOF,
} from './bots.policy.ts';

const HOME = '/admin/security/bots';

const PURPOSES: Readonly<Record<BotPurpose, string>> = {
  signUp: 'Sign-up',
  passwordReset: 'Forgotten passwords',
  signIn: 'Sign-in by password',
};
const MODES: Readonly<Record<BotMode, string>> = { OFF: 'Off', ADAPTIVE: 'After many requests from one network', ALWAYS: 'Always' };

const fieldsOf = (settings: BotSettings): readonly Field[] =>
  BOT_PURPOSES.map((name) => ({
    name,
    label: PURPOSES[name],
    kind: 'radios',
    value: settings[name],
    options: BOT_MODES.map((value) => ({
      value,
      label: MODES[value],
      ...(value !== 'OFF' && {
        hint:
          name === 'signIn'
            ? phrase('After {count} failures from one network in 15 minutes, passwords without a proof are refused.', {
                count: LIMITS_WITHOUT_PROOF[name][value],
              })
            : phrase('After {count} requests from one network in 15 minutes, those without a proof are refused.', {
                count: LIMITS_WITHOUT_PROOF[name][value],
              }),
      }),
    })),
  }));

const show: ConsolePage = {
  path: '/security/bots',
  access: 'service',
  async show({ services, request }) {
    const settings = await readSettings(services, 'bots');
    return detailPage({
      title: 'Bots',
      lead: 'Browsers solve a small computation, which makes thousands of requests expensive. Users notice nothing.',
      crumbs: [{ label: 'Security' }],
      actions: mayCall(request.roles, 'service', 'write') ? [{ label: 'Edit', href: `${HOME}/edit`, main: true }] : [],
      parts: [
        { kind: 'facts', facts: BOT_PURPOSES.map((name) => ({ label: PURPOSES[name], value: phrase(MODES[settings[name]]) })) },
        {
          kind: 'words',
          title: 'Explanation',
          paragraphs: [
            'The browser does the work while the user fills in the form. No picture, no puzzle, no other service (ALTCHA).',
            'Browsers without JavaScript may send a few requests in 15 minutes for each network. Their requests are confirmed by e-mail.',
            'Programs that call the API (authn, the password grant) are not asked. The usual limits for failures apply to them.',
          ],
        },
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/security/bots/edit',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const crumbs = [{ label: 'Security' }, { label: 'Bots', href: HOME }];
    const fields = fieldsOf(await readSettings(services, 'bots'));
    return formPage({ title: 'Edit bot protection', crumbs, fields, submit: 'Save', cancel: HOME }, typed);
  },
  async receive({ services, request }, form) {
    await changeSettings(services, 'bots', parse(settingsBodies.bots, typedValues(fieldsOf(BOT_DEFAULTS), form)), request);
    return { goTo: HOME, notice: 'bots-changed' };
  },
};

export const botPages: readonly ConsolePage[] = [show, edit];
