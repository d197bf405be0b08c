/** SCIM as a client calls it. */
import assert from 'node:assert/strict';
import { sendRequest } from './requests.ts';
import type { Answer, ServiceCalls } from './service.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export interface ScimClient {
  readonly token: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** @returns the resource */
  create(type: 'Users' | 'Groups', body: Record<string, unknown>): Promise<Answer['body']>;
  patch(path: string, operations: readonly unknown[], headers?: Record<string, string>): Promise<Answer>;
  /** @returns the user names that a filter finds */
  find(filter: string): Promise<string[]>;
}

/** With a token of its own. @param orgId absent: for the whole service */
export async function scimClient(service: ServiceCalls, orgId?: string): Promise<ScimClient> {
  const made = await service.api('POST', '/api-tokens', { name: 'Provisioning', type: 'SCIM', ...(orgId !== undefined && { orgId }) });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const token: string = made.body.token;
  const call: ScimClient['call'] = async (method, path, body, headers = {}) => {
    const response = await sendRequest(`${service.listensAt}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/scim+json',
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    token,
    call,
    async create(type, body) {
      const answer = await call('POST', `/${type}`, { schemas: [type === 'Users' ? USER : GROUP], ...body });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    patch: (path, operations, headers) => call('PATCH', path, { schemas: [PATCH], Operations: operations }, headers),
    async find(filter) {
      const { status, body } = await call('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body.Resources.map((user: { userName: string }) => user.userName).sort();
    },
  };
}
