/** Signing keys of an authorization server with their states, and manual rotation. */

import { LIFETIMES } from '../../../config/defaults.ts';
import type { Piece } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { inPages } from '../../platform/database/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { crumbsBelow, serverPage, serverSubject } from './server-page.console.ts';
import { nextRotation } from './signing-keys.policy.ts';
import type { SigningKey } from './signing-keys.resource.ts';
import { keysInUse, listServerKeys, rotateSigningKeys } from './signing-keys.service.ts';

const STATES: Readonly<Record<SigningKey['status'], Piece>> = {
  ACTIVE: { text: 'Signs', tone: 'good' },
  NEXT: { text: phrase('Announced, signs next') },
  RETIRED: { text: phrase('Retired, verifies what it signed') },
};

const COLUMNS: ListColumns = [
  'Key ID',
  { label: 'State', by: 'status', codes: Object.keys(STATES) },
  { label: 'Algorithm', by: 'alg' },
  { label: 'Created', by: 'created', descending: true },
  { label: 'Signs since', by: 'activated', descending: true },
  { label: 'Retired', by: 'retired', descending: true },
];

const keys: ConsolePage = {
  path: '/api/servers/:serverId/keys',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { server, home, isChangeable } = subject;
    const { items, total } = inPages(await listServerKeys(visit.services, server.id), pageIn(visit.query, COLUMNS));
    const inUse = (await keysInUse(visit.services, server.id)).get(server.id);
    const ages = inUse && { activated: inUse.activated, nextCreated: inUse.nextCreated ?? undefined };
    const due = ages && nextRotation(server.rotationMode, ages, LIFETIMES);
    return serverPage(subject, {
      actions: isChangeable ? [{ label: 'Rotate now', href: `${home}/keys/rotate` }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Signing algorithm', value: { text: server.signingAlg, code: true } },
            { label: 'Signs since', value: { moment: momentOrNull(inUse?.activated ?? null) } },
            {
              label: 'Next rotation',
              value:
                due === undefined ? phrase('Manual only: this server’s keys are not rotated automatically') : { moment: momentOf(due) },
            },
          ],
        },
        {
          kind: 'table',
          title: 'Keys',
          lead: 'All keys are published at the JWKS address. A retired key is removed when all tokens that it signed have expired.',
          name: 'Keys',
          rows: items.map(({ kid, alg, status, created, activated, retired }) => ({
            cells: [
              { text: kid, code: true },
              STATES[status],
              { text: alg, code: true },
              { moment: momentOf(created) },
              activated === null ? { text: 'Not yet', soft: true } : { moment: momentOf(activated) },
              retired === null ? { text: 'No', soft: true } : { moment: momentOf(retired) },
            ],
          })),
          empty: 'There are no more keys.',
          ...paged(`${home}/keys`, visit.query, COLUMNS, { total }, 'key'),
        },
      ],
    });
  },
};

const rotate: ConsolePage = {
  path: '/api/servers/:serverId/keys/rotate',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const crumbs = crumbsBelow(subject, { label: 'Keys', href: `${subject.home}/keys` });
    const facts = [
      'The announced key signs from now on, the current one retires, and a new one is announced. Issued tokens stay valid.',
      'Applications and APIs that cache the keys must have fetched them since the next key was announced. Others refuse new tokens until they fetch the keys again; good libraries do so when they see an unknown key.',
      'Rotated twice in a row, the second key was announced only just now: wait a day between two rotations unless a key has leaked.',
      'This cannot be undone.',
    ];
    return formPage(
      {
        title: 'Rotate the keys now?',
        crumbs,
        facts,
        hidden: formKey(),
        submit: 'Rotate keys',
        danger: true,
        cancel: `${subject.home}/keys`,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { server, home } = await serverSubject(visit);
    // Relying parties do not have a key that was just announced, so a form that is sent twice must rotate only once.
    await submitOnce(visit, form, [home, 'rotate'], async (services) => {
      await rotateSigningKeys(services, server.id, visit.request);
      return null;
    });
    return { goTo: `${home}/keys`, notice: 'keys-rotated' };
  },
};

export const serverKeys: readonly ConsolePage[] = [keys, rotate];
