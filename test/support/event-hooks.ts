/** An event hook's receiver on a port of its own, which proves what it gets by a computation of its own (Standard Webhooks 1.0), and hooks that call it. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { onServer, type TestDatabase } from './database.ts';
import { listen } from './listen.ts';
import { eventually } from './process.ts';
import type { ServiceCalls } from './service.ts';

/** A message as it came. */
export interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Its one event. */
  // biome-ignore lint/suspicious/noExplicitAny: what a hook is told is asserted field by field in the tests
  readonly event: any;
}

export interface HookReceiver {
  readonly uri: string;
  /** All that came, whatever was answered. */
  readonly messages: Message[];
  /** Those that were answered with a status of success, by event type and login of the target. */
  readonly accepted: string[];
  /** Waits until so many have come. */
  received(count: number): Promise<readonly Message[]>;
}

/** Answers a challenge as Okta's documentation says. @returns whether it was one */
export function answersChallenge(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.method !== 'GET') return false;
  res.setHeader('content-type', 'application/json').end(JSON.stringify({ verification: req.headers['x-okta-verification-challenge'] }));
  return true;
}

/** @param answer what it answers to a message; absent: 200 */
export async function hookReceiver(
  t: TestContext,
  answer: (res: ServerResponse, message: Message) => unknown = (res) => res.end(),
): Promise<HookReceiver> {
  const messages: Message[] = [];
  const accepted: string[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    if (answersChallenge(req, res)) return;
    const body = await text(req);
    const [event, ...others] = JSON.parse(body).data.events;
    assert.deepEqual(others, []);
    const message = { headers: req.headers, body, event };
    messages.push(message);
    res.once('finish', () => {
      if (res.statusCode < 300) accepted.push(nameOf(message));
    });
    answer(res, message);
  });
  return {
    uri: `${origin}/hook?of=tests`,
    messages,
    accepted,
    async received(count) {
      await eventually(() => messages.length >= count, `${count} messages come, not ${messages.length}`);
      return messages;
    },
  };
}

/** What a message is about, in short. */
export const nameOf = ({ event }: Message): string => `${event.eventType} ${event.target[0]?.displayName}`;

export const hookBody = (uri: string, items: readonly string[], config: Record<string, unknown> = {}) => ({
  name: 'Hook of tests',
  events: { type: 'EVENT_TYPE', items },
  channel: { type: 'HTTP', version: '1.0.0', config: { uri, ...config } },
});

/** A hook that is verified. */
export async function createHook(
  { api }: Pick<ServiceCalls, 'api'>,
  uri: string,
  items: readonly string[],
  config: Record<string, unknown> = {},
): Promise<{ id: string; secret: string }> {
  const { status, body } = await api('POST', '/eventHooks', hookBody(uri, items, config));
  assert.equal(status, 200, JSON.stringify(body));
  const verified = await api('POST', `/eventHooks/${body.id}/lifecycle/verify`);
  assert.deepEqual([verified.status, verified.body.verificationStatus], [200, 'VERIFIED'], JSON.stringify(verified.body));
  return { id: body.id, secret: body.signingSecret };
}

/** The signature that a message must have, computed here as the specification says. */
export function signatureOf(secret: string, { headers, body }: Message): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`;
}

export interface WaitingNews {
  readonly hook: string;
  readonly object: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly due: Date;
}

/** What is still to be told to hooks, as it was written. */
export const waitingNews = ({ url }: TestDatabase): Promise<WaitingNews[]> =>
  onServer(url, async (sql) => {
    const { rows } = await sql.query<WaitingNews>(
      "SELECT ordering_key AS hook, object_key AS object, attempts, last_error, due FROM outbox WHERE kind = 'event-hook' ORDER BY seq",
    );
    return rows;
  });

export const nothingWaits = (database: TestDatabase): Promise<boolean> =>
  eventually(async () => (await waitingNews(database)).length === 0, 'nothing waits');
