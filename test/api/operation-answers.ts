/** What holds of every answer of the management API ("Conventions"): it fits its description, and no id and no page breaks it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { sealCursor } from '../../src/platform/crypto/cursors.ts';
import { causes } from '../support/management-api.ts';
import { addressOf, forEachOperation, isRefused, nameOf, type Setting, type Subject } from './operations.ts';
import { STORIES } from './stories.ts';

const PAGE = new Set(['limit', 'page']);
const queryOf = ({ query }: Endpoint): Readonly<Record<string, z.ZodType>> => (query instanceof z.ZodObject ? query.shape : {});
/** The parameters of a list that choose its page by a number. */
const pageOf = (declared: Endpoint) => Object.entries(queryOf(declared)).filter(([name]) => PAGE.has(name));
const WRONG_CURSOR = ['after: must come from the link to the next page'];

/** For every id of every operation: unknown, what PostgreSQL refuses in a text, beyond its numbers. */
const STRANGE_IDS = ['org_unknown', 'a\u0000b', '2147483648'];
/** More of each kind, SQL, long ones, and what routers read, once for each place of an id: what stands behind the place reads it by the same code. */
const STRANGER_IDS = [
  ...[`x'; DROP TABLE users; --`, "'", '%', '..;', '<script>', '\u0000', '‮ابجد', '𐀀'.repeat(200), '\u{1f600}', '\ufffe', 'x'.repeat(3000)],
  ...['-1', '9223372036854775808', '9'.repeat(400), '1e400', '00000000-0000-0000-0000-000000000000'],
];
const strangersSeen = new Set<string>();

/** @param name of an id in the path */
function strangeIdsFor(path: string, name: string): readonly string[] {
  const place = path.slice(0, path.indexOf(`:${name}`));
  if (strangersSeen.has(place)) return STRANGE_IDS;
  strangersSeen.add(place);
  return [...STRANGE_IDS, ...STRANGER_IDS];
}

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

/** Those that a parameter takes, and once for each schema those that it refuses: they do not reach the operation. Lists share their schemas. */
const schemasSeen = new Set<z.ZodType>();

function strangeNumbersFor(schema: z.ZodType): readonly string[] {
  if (schemasSeen.has(schema)) return STRANGE_NUMBERS.filter((value) => schema.safeParse(value).success);
  schemasSeen.add(schema);
  return STRANGE_NUMBERS;
}

/** One for each service: it compiles the schemas of its description once. */
const validators = new WeakMap<object, Ajv2020>();

function validatorOf({ document }: Setting): Ajv2020 {
  // To optimize its code takes ajv longer than to run it.
  const options = { strict: false, validateFormats: false, allErrors: true, code: { optimize: false } };
  const known = validators.get(document) ?? new Ajv2020(options).addSchema(document, 'api');
  validators.set(document, known);
  return known;
}

/** @param part see operations.ts; what is asked once for all is in the first @returns the body of a suite */
export const operationAnswers = (part: number) => forEachOperation(part, testAnswers, testAll);

function testAnswers(setting: Setting, { declared, described, validCall, repeatableCall }: Subject): void {
  const { method, path } = declared;

  it('answers a valid call as its description says', async () => {
    const valid = await validCall();
    const answer = await setting.api.call<unknown>(method, addressOf(path, valid), valid.body);
    const status = Object.keys(described().responses).find((key) => key.startsWith('2'));
    assert.equal(String(answer.status), status, JSON.stringify(answer.body));
    const ajv = validatorOf(setting);
    const schema = described().responses[status ?? '']?.content?.['application/json'].schema;
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

  if (path.includes(':')) {
    it('answers ids that do not exist with 404, whatever characters they have', async () => {
      const valid = await repeatableCall();
      const before = await setting.eventCount();
      for (const name of Object.keys(valid.params ?? {})) {
        for (const id of strangeIdsFor(path, name)) {
          const changed = addressOf(path, { ...valid, params: { ...valid.params, [name]: id } });
          isRefused(await setting.api.call(method, changed, valid.body), 404, 'E0000007');
        }
      }
      assert.equal(await setting.eventCount(), before, 'nothing was changed');
    });
  }

  if (pageOf(declared).length > 0) {
    it('is not broken by any limit or page', async () => {
      const valid = await repeatableCall();
      for (const [name, schema] of pageOf(declared)) {
        for (const value of strangeNumbersFor(schema)) {
          const { status, body } = await setting.api.call<unknown>(
            method,
            addressOf(path, { ...valid, query: { ...valid.query, [name]: value } }),
            valid.body,
          );
          assert.ok(status === 200 || status === 400, `${name}=${value}: ${status} ${JSON.stringify(body)}`);
        }
      }
    });
  }

  if ('after' in queryOf(declared)) {
    it('refuses a cursor of another list', async () => {
      const valid = await repeatableCall();
      const { services, admin } = setting.api;
      const after = sealCursor(services.keyring, 1, { list: 'another', caller: admin.userId });
      const answer = await setting.api.call(method, addressOf(path, { ...valid, query: { ...valid.query, after } }));
      isRefused(answer, 400, 'E0000001');
      assert.deepEqual(causes(answer), WRONG_CURSOR);
    });
  }
}

function testAll(setting: Setting): void {
  it('has a valid call to test with, and there is none without an operation', () => {
    const [told, declared] = [new Set(Object.keys(STORIES)), new Set(ENDPOINTS.map(nameOf))];
    assert.deepEqual([[...declared].filter((it) => !told.has(it)), [...told].filter((it) => !declared.has(it))], [[], []]);
  });

  it('refuses cursors that are numbers, or nothing that it could have sent', async () => {
    // One list is enough: all lists open their cursors by the same code.
    for (const after of STRANGE_NUMBERS) {
      const answer = await setting.api.call('GET', `/users?${new URLSearchParams({ after })}`);
      isRefused(answer, 400, 'E0000001');
      assert.match(causes(answer).join(), /^after: must /, after);
    }
  });

  it('refuses methods that a path does not have, and says which it has', async () => {
    for (const path of new Set(ENDPOINTS.map((declared) => declared.path))) {
      const allowed = ENDPOINTS.filter((declared) => declared.path === path).map(({ method }) => method as string);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((it) => !allowed.includes(it))) {
        const answer = await setting.api.call(method, path.replace(/:\w+/g, 'x'));
        isRefused(answer, 405, 'E0000022');
        for (const one of allowed) assert.ok(answer.headers.get('allow')?.includes(one), `${method} ${path}`);
      }
    }
  });
}
