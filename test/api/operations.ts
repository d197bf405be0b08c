/**
 * What the tests of every operation of the management API begin with: a service, callers of every kind, and for each operation its description and a
 * valid call (stories.ts). What holds of all is in operation-answers.ts and operation-refusals.ts, in parts, each a file of its own, so that they run
 * beside each other.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import type { Role } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { type Answer, type ErrorObject, type ManagementApi, startManagementApi } from '../support/management-api.ts';
import { type Make, makeWith, STORIES, type ValidCall } from './stories.ts';

/** How many files each kind has. */
const PARTS = 2;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, { readonly content?: { readonly 'application/json': { readonly schema: Schema } } }>>;
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
export const addressOf = (path: string, { params = {}, query = {} }: ValidCall): string => {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
};

/** The session of the browser that calls, where an operation asks for it: the API alone has no sign-in (test/features/sessions/sessions-me.api.test.ts has). */
const SIGNED_IN = {
  uid: 'the session',
  accountId: 'usr_1',
  login: 'ada',
  amr: ['pwd'],
  signedInAt: 1_700_000_000,
  expiresAt: 4_000_000_000,
};

/** What the tests share; of use once they run. */
export interface Setting {
  readonly api: ManagementApi;
  readonly document: Document;
  /** What stands in a call's head. @param name `reader`, `org` (administrator of an organization) or `nobody` (without a role) */
  asWhom(name: string): Record<string, string>;
  eventCount(): Promise<number>;
}

/** One operation. */
export interface Subject {
  readonly declared: Endpoint;
  described(): Operation;
  /** What is made for it belongs to this call alone, which may use it up. */
  validCall(): Promise<ValidCall>;
  /** The same call each time, for those that change nothing, as they are to be refused: to make all that a call needs takes longer than the call. */
  repeatableCall(): Promise<ValidCall>;
}

export function isRefused(answer: Answer<ErrorObject>, status: number, errorCode: string): void {
  assert.deepEqual([answer.status, answer.body?.errorCode], [status, errorCode], JSON.stringify(answer.body));
  assert.deepEqual(Object.keys(answer.body).sort(), ['errorCauses', 'errorCode', 'errorId', 'errorLink', 'errorSummary']);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
}

/**
 * @param part from 1 to PARTS: every operation is in one of them
 * @param define declares the tests of one operation
 * @returns the body of a suite with these tests
 */
export const forEachOperation =
  (part: number, define: (setting: Setting, subject: Subject) => void, atLast: (setting: Setting) => void = () => {}) =>
  (): void => {
    let api: ManagementApi;
    let make: Make;
    let document: Document;
    const tokens = new Map<string, string>();
    const tokenOf = async (name: string, roles: Role[]): Promise<void> => {
      const { id } = await createUser(api.services, { profile: { login: name }, activate: true, roles }, SYSTEM);
      tokens.set(name, (await createApiToken(api.services, { name, userId: id }, SYSTEM)).value);
    };

    before(async () => {
      api = await startManagementApi({ sessions: { current: async () => SIGNED_IN, forget: async () => undefined } });
      make = makeWith(api);
      document = (await api.call<Document>('GET', '/openapi.json')).body;
      await tokenOf('reader', [{ type: 'READ_ONLY_ADMIN' }]);
      await tokenOf('org', [{ type: 'ORG_ADMIN', orgId: await make.org() }]);
      await tokenOf('nobody', []);
    });
    after(() => api.close());

    const setting: Setting = {
      get api() {
        return api;
      },
      get document() {
        return document;
      },
      asWhom: (name) => ({ authorization: `SSWS ${tokens.get(name)}` }),
      async eventCount() {
        const row = await api.services.database.knex('audit_events').count({ n: '*' }).first();
        return Number(row?.n);
      },
    };

    for (const declared of ENDPOINTS.filter((_, index) => index % PARTS === part - 1)) {
      let kept: Promise<ValidCall> | undefined;
      const validCall = async (): Promise<ValidCall> => {
        const story = STORIES[nameOf(declared)];
        assert(story, `test/api/stories.ts has a valid call of ${nameOf(declared)}`);
        return story(make);
      };
      const subject: Subject = {
        declared,
        described() {
          const found = document.paths[declared.path.replace(/:(\w+)/g, '{$1}')]?.[declared.method.toLowerCase()];
          assert(found, 'the operation is described');
          return found;
        },
        validCall,
        repeatableCall: () => (kept ??= validCall()),
      };
      describe(nameOf(declared), () => define(setting, subject));
    }
    if (part === 1) atLast(setting);
  };
