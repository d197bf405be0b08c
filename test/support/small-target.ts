/** A SCIM target in a few lines that a test can make misbehave. It keeps what is sent, and notes each request. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { listen } from './listen.ts';
import { type Service, startService } from './service.ts';

type RemoteUser = Record<string, unknown>;

export interface TargetAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface TargetRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly filter: string;
  // biome-ignore lint/suspicious/noExplicitAny: resources are read field by field
  readonly body: any;
}

export interface SmallTarget {
  readonly origin: string;
  readonly users: RemoteUser[];
  readonly requests: TargetRequest[];
  /** Answers in place of the target; `closed` breaks the connection; undefined: the target answers. */
  instead: (request: TargetRequest) => TargetAnswer | 'closed' | undefined | Promise<TargetAnswer | 'closed' | undefined>;
  /** What of a user the target keeps. */
  keep: (user: RemoteUser) => RemoteUser;
  named(userName: string): RemoteUser | undefined;
  /** Changes that were asked for, as `METHOD /path`. */
  changes(): readonly string[];
}

/** Starts one. @param users who are there from the start */
export async function smallTarget(t: TestContext, users: RemoteUser[] = []): Promise<SmallTarget> {
  let last = users.length;
  const perform = ({ method, path, filter, body }: TargetRequest): TargetAnswer => {
    const id = path.split('/')[2];
    const at = users.findIndex((user) => user.id === id);
    const [, field = '', value = ''] = /^(\w+) eq "(.*)"$/.exec(filter) ?? [];
    if (method === 'POST') {
      last += 1;
      const made = { ...target.keep(body), id: String(last) };
      users.push(made);
      return { status: 201, body: made };
    }
    if (id === undefined) {
      return { status: 200, body: { Resources: users.filter((user) => String(user[field]).toLowerCase() === value.toLowerCase()) } };
    }
    if (at < 0) return { status: 404 };
    if (method === 'PUT') users[at] = target.keep(body);
    if (method === 'DELETE') users.splice(at, 1);
    return { status: method === 'DELETE' ? 204 : 200, body: users[at] };
  };
  const target: SmallTarget = {
    users,
    requests: [],
    instead: () => undefined,
    keep: (user) => user,
    named: (userName) => users.find((user) => user.userName === userName),
    changes: () => target.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
    origin: await listen(t, '127.0.0.1', async (req, res) => {
      const [url, sent] = [new URL(req.url ?? '/', 'http://target.example'), await text(req)];
      const request = {
        method: req.method ?? '',
        path: url.pathname,
        filter: url.searchParams.get('filter') ?? '',
        body: sent.startsWith('{') ? JSON.parse(sent) : undefined,
      };
      target.requests.push(request);
      const answer = (await target.instead(request)) ?? perform(request);
      if (answer === 'closed') return void req.socket.destroy();
      res.writeHead(answer.status, { 'content-type': 'application/scim+json', ...answer.headers });
      res.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
    }),
  };
  return target;
}

/** A service with an application, and what a test of its provisioning does again and again. */
export async function provisioningService(t: TestContext) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const { clientId: app } = await service.createApp({ application_type: 'service' });
  const at = `/apps/${app}/provisioning`;
  const ok = async (...call: Parameters<Service['api']>) => {
    const { status, body } = await service.api(...call);
    assert.ok(status < 300, `${call.join(' ')} ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    ...{ service, app, ok },
    assign: async (login: string, profile: Record<string, unknown> = {}): Promise<string> => {
      const { id } = await service.createUser({ login, email: login, ...profile });
      await ok('PUT', `/apps/${app}/users/${id}`);
      return id;
    },
    set: (target: SmallTarget, settings: Record<string, unknown> = {}) =>
      ok('PUT', at, { baseUrl: target.origin, auth: { type: 'BEARER', secret: 'a-token' }, ...settings }),
    state: () => ok('GET', at),
    failed: () => ok('GET', `${at}/resources?state=FAILED`),
    push: () => ok('POST', `${at}/push`),
  };
}
