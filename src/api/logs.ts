/** `logs`: the audit events, as Okta's System Log API shows them. They are read here and nothing else. */
import { z } from 'zod';
import { readLogs } from '../services/logs.ts';
import { text } from '../services/text.ts';
import type { StoredEvent } from '../store/audit.ts';
import { type Endpoint, listing } from './endpoint.ts';
import { moment, time, writeTime } from './fields.ts';

const party = z.object({ id: z.string(), type: z.string(), displayName: z.string() });

const event = z.object({
  uuid: z.uuid(),
  published: time,
  eventType: z.string().meta({ description: 'e.g. user.lifecycle.create' }),
  severity: z.enum(['INFO', 'WARN', 'ERROR']),
  displayMessage: z.string(),
  actor: party.meta({ description: 'Who did it' }),
  client: z.object({ ipAddress: z.string().nullable(), userAgent: z.string().nullable() }),
  outcome: z.object({ result: z.enum(['SUCCESS', 'FAILURE']), reason: z.string().nullable() }),
  target: z.array(party).meta({ description: 'To what it was done' }),
  transaction: z.object({ id: z.string().nullable() }).meta({ description: 'The request, as in X-Request-Id' }),
  debugContext: z
    .object({ before: z.unknown().optional(), after: z.unknown().optional() })
    .meta({ description: 'Of a change: the resource as it was and as it is now, without secrets' }),
});

export const logs: readonly Endpoint[] = [
  listing({
    path: '/logs',
    access: 'service',
    summary: 'Read the audit events, newest last',
    query: {
      since: moment.optional().meta({ description: 'At this time or later; seven days ago where neither since nor until is given' }),
      until: moment.optional().meta({ description: 'Before this time' }),
      filter: z
        .string()
        .optional()
        .meta({ description: 'An expression of RFC 7644 section 3.4.2.2, e.g. eventType sw "user." and target.id eq "…"' }),
      q: text().optional().meta({ description: 'Words that are all somewhere in the event' }),
      sortOrder: z.enum(['ASCENDING', 'DESCENDING']).default('ASCENDING').meta({ description: 'DESCENDING: newest first' }),
    },
    item: event,
    handler: async ({ services, query: { since, until, filter, q, sortOrder, ...window } }) => {
      const { items, next } = await readLogs(services, { since, until, filter, q, newestFirst: sortOrder === 'DESCENDING' }, window);
      return { items: items.map(present), next };
    },
  }),
];

const present = ({ published, client, outcome, transactionId, ...rest }: StoredEvent): z.input<typeof event> => ({
  ...rest,
  target: [...rest.target],
  published: writeTime(published),
  client: { ipAddress: client.ipAddress ?? null, userAgent: client.userAgent ?? null },
  outcome: { result: outcome.result, reason: outcome.reason ?? null },
  transaction: { id: transactionId },
});
