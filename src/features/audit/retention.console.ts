/** Reports → System log → Retention: how long audit events are kept (settings/audit). */

import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { changeSettings, DEFAULT_SETTINGS, readSettings } from '../settings/settings.service.ts';
import { settingsBodies } from '../settings/settings-fields.service.ts';
import { LOG } from './event-links.console.ts';

const fieldsFor = (retentionDays: number | null): readonly Field[] => [
  {
    name: 'keep',
    label: 'Events are kept',
    kind: 'radios',
    value: retentionDays === null ? 'forever' : 'limited',
    options: [
      { value: 'forever', label: 'Forever' },
      { value: 'limited', label: 'For a limited time', hint: 'Older events are deleted in batches.' },
    ],
  },
  {
    name: 'retentionDays',
    label: 'Delete events after',
    kind: 'duration',
    unit: 'day',
    value: retentionDays === null ? '' : String(retentionDays),
    when: { field: 'keep', value: 'limited' },
  },
];

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
        facts: ['Events that a shorter time deletes cannot be restored.'],
        fields: fieldsFor(retentionDays),
        submit: 'Save',
        cancel: LOG,
      },
      typed,
    );
  },
  async receive({ services, request }, form) {
    const { keep, retentionDays = '' } = typedValues(fieldsFor(DEFAULT_SETTINGS.audit.retentionDays), form);
    const changes = parse(settingsBodies.audit, { retentionDays: keep === 'limited' ? retentionDays : null });
    await changeSettings(services, 'audit', changes, request);
    return { goTo: LOG, notice: 'retention-changed' };
  },
};
