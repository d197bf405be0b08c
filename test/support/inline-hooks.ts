/** An inline hook's receiver on a port of its own, which checks the signature of what it is asked, and hooks that call it. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Message, signatureOf } from './event-hooks.ts';
import { listen } from './listen.ts';
import type { ServiceCalls } from './service.ts';

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a hook is asked is asserted field by field in the tests
  readonly event: any;
}

export interface InlineReceiver {
  readonly uri: string;
  /** All that came. */
  readonly asked: Asked[];
  /** What it answers from now on. */
  answers(answer: object | ((res: ServerResponse, asked: Asked) => unknown)): void;
  /** Set once the hook is made; from then on the signature of each request must be right. */
  secret: string | undefined;
}

export async function inlineReceiver(t: TestContext): Promise<InlineReceiver> {
  let answer: (res: ServerResponse, asked: Asked) => unknown = (res) => res.writeHead(204).end();
  const receiver: InlineReceiver = {
    uri: '',
    asked: [],
    secret: undefined,
    answers(given) {
      answer = typeof given === 'function' ? (given as typeof answer) : (res) => res.end(JSON.stringify(given));
    },
  };
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    const body = await text(req);
    const asked = { headers: req.headers, body, event: JSON.parse(body) };
    if (
      receiver.secret !== undefined &&
      !String(req.headers['webhook-signature'])
        .split(' ')
        .includes(signatureOf(receiver.secret, asked as Message))
    )
      return void res.writeHead(401).end();
    receiver.asked.push(asked);
    answer(res, asked);
  });
  return Object.assign(receiver, { uri: `${origin}/hook` });
}

export const TOKENS = 'com.okta.oauth2.tokens.transform';
export const PASSWORDS = 'com.okta.user.credential.password.import';
export const SIGN_UPS = 'com.okta.user.pre-registration';

export const inlineHookBody = (type: string, uri: string, more: Record<string, unknown> = {}, config: Record<string, unknown> = {}) => ({
  name: `Hook for ${type}`,
  type,
  version: '1.0.0',
  channel: { type: 'HTTP', version: '1.0.0', config: { uri, method: 'POST', ...config } },
  ...more,
});

/** An active hook of the type that asks the receiver. @returns its ID */
export async function createInlineHook(
  { api }: Pick<ServiceCalls, 'api'>,
  receiver: InlineReceiver,
  type: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await api('POST', '/inlineHooks', inlineHookBody(type, receiver.uri, more));
  assert.equal(status, 200, JSON.stringify(body));
  receiver.secret = body.signingSecret;
  return body.id;
}
