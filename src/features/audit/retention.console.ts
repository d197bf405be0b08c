/** Reports → System log → Retention: how long audit events are kept (settings/audit). */

import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { changeSettings, DEFAULT_SETTINGS, readSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';
import { LOG } from './event-links.console.ts';

const fieldFor = (retentionDays: number | null): Field => ({
  name: 'retentionDays',
  label: 'Days',
  kind: 'number',
  value: retentionDays === null ? '' : String(retentionDays),
  hint: 'Older events are deleted in batches. Empty: events are kept forever.',
});

export const retention: ConsolePage = {
  path: '/reports/log/retention',
  access: 'service',
  verb: 'write',
  async show({ services }, typed) {
    const { retentionDays } = await readSettings(services, 'audit');
    return formPage(
      {
        title: 'How long events are kept',
        crumbs: [{ label: 'Reports' }, { label: 'System log', href: LOG }],
        facts: ['What a shorter time deletes does not come back.'],
        fields: [fieldFor(retentionDays)],
        submit: 'Save',
        cancel: LOG,
      },
      typed,
    );
  },
  async receive({ services, request }, form) {
    const { retentionDays = null } = typedValues([fieldFor(DEFAULT_SETTINGS.audit.retentionDays)], form);
    await changeSettings(services, 'audit', parse(settingsBodies.audit, { retentionDays }), request);
    return { goTo: LOG, notice: 'retention-changed' };
  },
};
