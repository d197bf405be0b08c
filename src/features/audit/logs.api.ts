/** `logs`: the audit events, read-only, as in Okta's System Log API. */

import { z } from 'zod';
import { type Endpoint, listing } from '../../api/endpoint.ts';
import { moment } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { describeEvent, logEvent } from './log-events.service.ts';
import { readLogs, readOrganizationLog } from './logs.service.ts';

const until = moment.optional().meta({ description: 'Before this time' });
const filter = z.string().optional().meta({
  description:
    'An expression of RFC 7644 section 3.4.2.2, e.g. eventType sw "user." and application.id eq "…". The application of an event is one of its targets',
});

export const logs: readonly Endpoint[] = [
  listing({
    path: '/logs',
    access: 'service',
    summary: 'Read the audit events, newest last',
    query: {
      since: moment.optional().meta({ description: 'At this time or later. Default, if until is absent too: seven days ago' }),
      until,
      filter,
      q: text().optional().meta({ description: 'Words that the event must contain' }),
      sortOrder: z.enum(['ASCENDING', 'DESCENDING']).default('ASCENDING').meta({ description: 'DESCENDING: newest first' }),
    },
    item: logEvent,
    handler: async ({ services, query: { since, until, filter, q, sortOrder, ...window } }) =>
      mapPage(await readLogs(services, { since, until, filter, q, newestFirst: sortOrder === 'DESCENDING' }, window), describeEvent),
  }),
  listing({
    path: '/account/org/:orgId/log',
    access: 'organizations',
    summary: 'Read the audit events about an organization, newest first',
    params: z.object({ orgId: z.string().min(1) }),
    query: { since: moment.optional().meta({ description: 'At this time or later' }), until, filter },
    item: logEvent,
    handler: async ({ services, params: { orgId }, query: { since, until, filter, ...window }, request }) =>
      mapPage(await readOrganizationLog(services, orgId, { since, until, filter }, window, request), describeEvent),
  }),
];
