/**
 * What holds for every operation of the management API ("Conventions"), tested on each from its own description: answers fit their schema, and
 * whatever is wrong with a call it is refused with the documented error, a cause per field, and nothing half done. In parts, each a file of its own
 * (every-operation-<n>.test.ts), so that they run beside each other.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import type { Role } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { randomToken } from '../../src/platform/crypto/secrets.ts';
import { type Answer, causes, type ErrorObject, type ManagementApi, startManagementApi } from '../support/management-api.ts';
import { type Make, makeWith, STORIES, type ValidCall } from './stories.ts';

/** How many files there are. */
const PARTS = 4;

interface Schema {
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
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const PAGE = new Set(['after', 'limit', 'page']);
const queryOf = ({ query }: Endpoint): string[] => (query instanceof z.ZodObject ? Object.keys(query.shape) : []);
const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
const addressOf = (path: string, { params = {}, query = {} }: ValidCall): string => {
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

const STRANGE_IDS = [
  ...['org_unknown', `x'; DROP TABLE users; --`, '<script>', '\u0000', '‮ابجد', '𐀀'.repeat(200), 'x'.repeat(3000), '%', '..;'],
  ...['-1', '2147483648', '9223372036854775808', '9'.repeat(400), '1e400', '\ufffe', 'a\u0000b'],
];
/** Of a page: at, beside and beyond the limits of PostgreSQL's and JavaScript's numbers, and what is no number. */
const STRANGE_NUMBERS = [
  ...[
    '0',
    '1',
    '2147483647',
    '2147483648',
    '4294967296',
    '999999999999999',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
  ],
  ...[
    '9'.repeat(400),
    '-1',
    '-2147483649',
    '1e400',
    '0x10',
    '1.5',
    'NaN',
    'Infinity',
    ' 1',
    '\u0661',
    '１',
    '',
    '\u0000',
    '1\u00002',
    '𐀀',
    "1'--",
  ],
];

/** A value no schema of this type takes. */
const WRONG = { string: 4711, number: 'four', integer: 1.5, boolean: 'perhaps', array: 'one', object: 'one' } as const;

/** @param part from 1 to PARTS: every operation is in one of them; what is asked once for all is in the first */
export const testOperations = (part: number): void =>
  void describe(`every operation of the management API, part ${part} of ${PARTS}`, () => {
    let api: ManagementApi;
    let make: Make;
    let document: Document;
    let ajv: Ajv2020;
    const tokens = new Map<string, string>();

    before(async () => {
      api = await startManagementApi({ sessions: { current: async () => SIGNED_IN, forget: async () => undefined } });
      make = makeWith(api);
      document = (await api.call<Document>('GET', '/openapi.json')).body;
      ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
      ajv.addSchema(document, 'api');
      await tokenOf('reader', [{ type: 'READ_ONLY_ADMIN' }]);
      await tokenOf('org', [{ type: 'ORG_ADMIN', orgId: await make.org() }]);
      await tokenOf('nobody', []);
    });
    after(() => api.close());

    async function tokenOf(name: string, roles: Role[]): Promise<void> {
      const { id } = await createUser(api.services, { profile: { login: name }, activate: true, roles }, SYSTEM);
      tokens.set(name, (await createApiToken(api.services, { name, userId: id }, SYSTEM)).value);
    }
    const asWhom = (name: string): Record<string, string> => ({ authorization: `SSWS ${tokens.get(name)}` });
    const eventCount = async (): Promise<number> => {
      const row = await api.services.database.knex('audit_events').count({ n: '*' }).first();
      return Number(row?.n);
    };
    const operationOf = ({ method, path }: Endpoint): Operation => {
      const found = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      assert(found, 'the operation is described');
      return found;
    };
    const validCall = (declared: Endpoint): Promise<ValidCall> => {
      const story = STORIES[nameOf(declared)];
      assert(story, `test/api/stories.ts has a valid call of ${nameOf(declared)}`);
      return story(make);
    };
    const isRefused = (answer: Answer<ErrorObject>, status: number, errorCode: string): void => {
      assert.deepEqual([answer.status, answer.body?.errorCode], [status, errorCode], JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body).sort(), ['errorCauses', 'errorCode', 'errorId', 'errorLink', 'errorSummary']);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    };

    /** The schema itself, or what it refers to. */
    const resolved = (schema: Schema): Schema => {
      const name = schema.$ref?.replace('#/components/schemas/', '');
      return name === undefined ? schema : (document.components.schemas?.[name] ?? {});
    };

    /** Every field of a body with a value of the wrong type: `[path, body]`. */
    function* mistaken(schema: Schema, body: unknown, path: readonly string[] = []): Generator<[string, unknown]> {
      for (const [name, member] of Object.entries(resolved(schema).properties ?? {})) {
        const field = resolved(member);
        const here = [...path, name];
        const base = typeof body === 'object' && body !== null ? body : {};
        const types = [field, ...(field.anyOf ?? []), ...(field.oneOf ?? [])].flatMap(({ type }) => type ?? []);
        const type = types.find((it): it is keyof typeof WRONG => it in WRONG);
        if (field.enum !== undefined || field.const !== undefined) yield [here.join('.'), { ...base, [name]: 'something else' }];
        else if (type !== undefined) yield [here.join('.'), { ...base, [name]: WRONG[type] }];
        // A password is whatever was typed.
        if (type === 'string' && field.enum === undefined && name !== 'value') {
          yield [here.join('.'), { ...base, [name]: 'null\u0000byte' }];
        }
        const inner = Object.entries(base).find(([key]) => key === name)?.[1] ?? {};
        for (const [deeper, changed] of mistaken(field, inner, here)) yield [deeper, { ...base, [name]: changed }];
      }
    }

    for (const declared of ENDPOINTS.filter((_, index) => index % PARTS === part - 1)) {
      const { method, path, access } = declared;
      const changes = method !== 'GET';

      describe(nameOf(declared), () => {
        it('answers a valid call as its description says', async () => {
          const valid = await validCall(declared);
          const answer = await api.call<unknown>(method, addressOf(path, valid), valid.body);
          const status = Object.keys(operationOf(declared).responses).find((key) => key.startsWith('2'));
          assert.equal(String(answer.status), status, JSON.stringify(answer.body));
          const schema = operationOf(declared).responses[status ?? '']?.content?.['application/json'].schema;
          assert.equal(answer.body === undefined, schema === undefined);
          const pointer = `api#/paths/${path.replace(/:(\w+)/g, '{$1}').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`;
          if (schema !== undefined) {
            const fits = ajv.getSchema(pointer) ?? ajv.compile({ $ref: pointer });
            assert.ok(fits(answer.body), `${ajv.errorsText(fits.errors)} in ${JSON.stringify(answer.body)}`);
          }
          for (const header of ['x-rate-limit-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset']) {
            assert.match(answer.headers.get(header) ?? '', /^\d+$/, header);
          }
        });

        if (access !== 'anyone') {
          it('is closed to callers without a token, with an unknown one, and with roles that do not reach so far', async () => {
            const valid = await validCall(declared);
            const before = await eventCount();
            const as = (headers: Record<string, string>) => api.call(method, addressOf(path, valid), valid.body, headers);
            for (const authorization of ['', 'SSWS', `SSWS ${randomToken()}`, `Bearer ${api.admin.token}`]) {
              isRefused(await as({ authorization }), 401, 'E0000011');
            }
            isRefused(await as(asWhom('nobody')), 401, 'E0000011');
            if (changes && access !== 'own') isRefused(await as(asWhom('reader')), 403, 'E0000006');
            if (access === 'service') isRefused(await as(asWhom('org')), 403, 'E0000006');
            else if (path.includes(':')) isRefused(await as(asWhom('org')), 404, 'E0000007');
            assert.equal(await eventCount(), before, 'nothing was changed');
          });
        }

        if (path.includes(':')) {
          it('answers ids that do not exist with 404, whatever characters they have', async () => {
            const valid = await validCall(declared);
            const before = await eventCount();
            for (const name of Object.keys(valid.params ?? {})) {
              for (const id of STRANGE_IDS) {
                const changed = addressOf(path, { ...valid, params: { ...valid.params, [name]: id } });
                isRefused(await api.call(method, changed, valid.body), 404, 'E0000007');
              }
            }
            assert.equal(await eventCount(), before, 'nothing was changed');
          });
        }

        it('refuses query parameters given twice or out of bounds, by name', async () => {
          const valid = await validCall(declared);
          const names = (operationOf(declared).parameters ?? []).filter((it) => it.in === 'query').map(({ name }) => name);
          const before = await eventCount();
          for (const name of names) {
            const bare = addressOf(path, {
              ...valid,
              query: Object.fromEntries(Object.entries(valid.query ?? {}).filter(([key]) => key !== name)),
            });
            const refused = async (...values: string[]) => {
              const search = new URLSearchParams(values.map((value): [string, string] => [name, value]));
              const answer = await api.call(method, `${bare}${bare.includes('?') ? '&' : '?'}${search}`, valid.body);
              isRefused(answer, 400, 'E0000001');
              assert.match(causes(answer).join(), new RegExp(`^${name}: `));
            };
            await refused('1', '2');
            await refused('nul\u0000byte');
            if (name === 'limit')
              for (const value of ['', '0', '-1', '1.5', '201', '1e2', 'ten', '99999999999999999999']) await refused(value);
            if (name === 'page') for (const value of ['', '0', '-1', '1.5', '1e2', 'ten', '99999999999999999999']) await refused(value);
            if (name === 'after') for (const value of ['', '-1', 'x', '99999999999999999999']) await refused(value);
          }
          assert.equal(await eventCount(), before, 'nothing was changed');
        });

        if (queryOf(declared).some((name) => PAGE.has(name))) {
          it('is not broken by any cursor, limit or page', async () => {
            const valid = await validCall(declared);
            for (const name of queryOf(declared).filter((it) => PAGE.has(it))) {
              for (const value of STRANGE_NUMBERS) {
                const { status, body } = await api.call<unknown>(
                  method,
                  addressOf(path, { ...valid, query: { ...valid.query, [name]: value } }),
                  valid.body,
                );
                assert.ok(status === 200 || status === 400, `${name}=${value}: ${status} ${JSON.stringify(body)}`);
              }
            }
          });
        }

        if (declared.body !== undefined) {
          it('refuses bodies of another type, form and content type', async () => {
            const valid = await validCall(declared);
            const before = await eventCount();
            const send = (body: string, type = 'application/json') =>
              api.call(method, addressOf(path, valid), body, { 'content-type': type });
            const sent = JSON.stringify(valid.body ?? {});
            for (const body of ['{', '[]', '"text"', 'null', '4711', `${sent}x`]) {
              const answer = await send(body);
              assert.ok(['E0000001', 'E0000003'].includes(answer.body.errorCode), `${body}: ${answer.status} ${answer.body.errorCode}`);
              assert.equal(answer.status, 400);
            }
            isRefused(await send(`{"a":"${'x'.repeat(1_100_000)}"}`), 400, 'E0000003');
            isRefused(await send(sent, 'text/plain'), 400, 'E0000003');
            isRefused(await send('a=b', 'application/x-www-form-urlencoded'), 400, 'E0000003');
            assert.equal(await eventCount(), before, 'nothing was changed');
          });

          it('refuses unknown fields, and each field with a wrong type, by its name', async () => {
            const valid = await validCall(declared);
            const before = await eventCount();
            const refused = async (field: string, body: unknown) => {
              const answer = await api.call(method, addressOf(path, valid), body);
              isRefused(answer, 400, 'E0000001');
              assert.ok(
                causes(answer).some((cause) => cause.startsWith(field)),
                `${field}: ${JSON.stringify(answer.body.errorCauses)}`,
              );
            };
            await refused('nonsense: ', { ...valid.body, nonsense: true });
            const schema = operationOf(declared).requestBody?.content['application/json'].schema;
            assert(schema, 'the body is described');
            for (const [field, body] of mistaken(schema, valid.body)) {
              // Of what is typed to sign in nothing is told, not even that nobody can be called so.
              if (access !== 'anyone' || !JSON.stringify(body).includes('\\u0000')) await refused(field, body);
            }
            assert.equal(await eventCount(), before, 'nothing was changed');
          });
        }
      });
    }

    if (part === 1) {
      it('has a valid call to test with, and there is none without an operation', () => {
        const [told, declared] = [new Set(Object.keys(STORIES)), new Set(ENDPOINTS.map(nameOf))];
        assert.deepEqual([[...declared].filter((it) => !told.has(it)), [...told].filter((it) => !declared.has(it))], [[], []]);
      });

      it('refuses methods that a path does not have, and says which it has', async () => {
        for (const path of new Set(ENDPOINTS.map((declared) => declared.path))) {
          const allowed = ENDPOINTS.filter((declared) => declared.path === path).map(({ method }) => method as string);
          for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((it) => !allowed.includes(it))) {
            const answer = await api.call(method, path.replace(/:\w+/g, 'x'));
            isRefused(answer, 405, 'E0000022');
            for (const one of allowed) assert.ok(answer.headers.get('allow')?.includes(one), `${method} ${path}`);
          }
        }
      });
    }
  });
