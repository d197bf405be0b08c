/** An audit event for its readers, in `logs` and in event hooks: as in Okta's System Log API. */
import { z } from 'zod';
import { recognise } from '../sessions/browser-name.policy.ts';
import type { StoredEvent } from './events.resource.ts';

const party = z.object({ id: z.string(), type: z.string(), displayName: z.string() });

export const logEvent = z.object({
  uuid: z.uuid(),
  published: z.iso.datetime(),
  eventType: z.string().meta({ description: 'e.g. user.lifecycle.create' }),
  severity: z.enum(['INFO', 'WARN', 'ERROR']),
  displayMessage: z.string(),
  actor: party.meta({ description: 'Who did it' }),
  client: z.object({
    ipAddress: z.string().nullable(),
    userAgent: z
      .object({
        rawUserAgent: z.string().meta({ description: 'The header User-Agent' }),
        browser: z.string().nullable().meta({ description: 'Recognised by it, e.g. Firefox' }),
        os: z.string().nullable().meta({ description: 'Recognised by it, e.g. Windows' }),
      })
      .nullable(),
  }),
  outcome: z.object({ result: z.enum(['SUCCESS', 'FAILURE']), reason: z.string().nullable() }),
  target: z.array(party).meta({ description: 'To what it was done' }),
  transaction: z.object({ id: z.string().nullable() }).meta({ description: 'The request, as in X-Request-Id' }),
  debugContext: z.object({ before: z.unknown().optional(), after: z.unknown().optional(), decision: z.unknown().optional() }).meta({
    description:
      'Of a change: the resource as it was and as it is now, without secrets. Of a sign-in or a refusal: what decided, as facts and reason codes',
  }),
});

function describeUserAgent(raw: string | undefined) {
  if (raw === undefined || raw === null) return null;
  const { browser = null, os = null } = recognise(raw);
  return { rawUserAgent: raw, browser, os };
}

/** An event as readers see it. */
export const describeEvent = ({ published, client, outcome, transactionId, ...rest }: StoredEvent): z.input<typeof logEvent> => ({
  ...rest,
  target: [...rest.target],
  published: published.toISOString(),
  client: { ipAddress: client.ipAddress ?? null, userAgent: describeUserAgent(client.userAgent) },
  outcome: { result: outcome.result, reason: outcome.reason ?? null },
  transaction: { id: transactionId },
});
