/** What every operation of the management API refuses ("Conventions"): with the documented error, a cause per field, and nothing half done. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomToken } from '../../src/platform/crypto/secrets.ts';
import { causes } from '../support/management-api.ts';
import { addressOf, type Document, forEachOperation, isRefused, type Schema, type Setting, type Subject } from './operations.ts';

/** KiB that a body may have where the operation says nothing else (src/api/body.ts). */
const MOST_BODY = { withoutToken: 16, ordinary: 64 };

/** A value no schema of this type takes. */
const WRONG = { string: 4711, number: 'four', integer: 1.5, boolean: 'perhaps', array: 'one', object: 'one' } as const;

/** The schema itself, or what it refers to. */
const resolvedIn = (document: Document, schema: Schema): Schema => {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (document.components.schemas?.[name] ?? {});
};

/** Every field of a body with a value of the wrong type: `[path, body]`. */
function* mistaken(document: Document, schema: Schema, body: unknown, path: readonly string[] = []): Generator<[string, unknown]> {
  for (const [name, member] of Object.entries(resolvedIn(document, schema).properties ?? {})) {
    const field = resolvedIn(document, member);
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
    for (const [deeper, changed] of mistaken(document, field, inner, here)) yield [deeper, { ...base, [name]: changed }];
  }
}

/** @param part see operations.ts @returns the body of a suite */
export const operationRefusals = (part: number) => forEachOperation(part, testRefusals);

function testRefusals(setting: Setting, { declared, described, repeatableCall }: Subject): void {
  const { method, path, access } = declared;
  const changes = method !== 'GET';

  if (access !== 'anyone') {
    it('is closed to callers without a token, with an unknown one, and with roles that do not reach so far', async () => {
      const valid = await repeatableCall();
      const before = await setting.eventCount();
      const as = (headers: Record<string, string>) => setting.api.call(method, addressOf(path, valid), valid.body, headers);
      for (const authorization of ['', 'SSWS', `SSWS ${randomToken()}`, `Bearer ${setting.api.admin.token}`]) {
        isRefused(await as({ authorization }), 401, 'E0000011');
      }
      isRefused(await as(setting.asWhom('nobody')), 401, 'E0000011');
      if (changes && access !== 'own') isRefused(await as(setting.asWhom('reader')), 403, 'E0000006');
      if (access === 'service') isRefused(await as(setting.asWhom('org')), 403, 'E0000006');
      else if (path.includes(':')) isRefused(await as(setting.asWhom('org')), 404, 'E0000007');
      assert.equal(await setting.eventCount(), before, 'nothing was changed');
    });
  }

  it('refuses query parameters given twice or out of bounds, by name', async () => {
    const valid = await repeatableCall();
    const names = (described().parameters ?? []).filter((it) => it.in === 'query').map(({ name }) => name);
    const before = await setting.eventCount();
    for (const name of names) {
      const bare = addressOf(path, {
        ...valid,
        query: Object.fromEntries(Object.entries(valid.query ?? {}).filter(([key]) => key !== name)),
      });
      const refused = async (...values: string[]) => {
        const search = new URLSearchParams(values.map((value): [string, string] => [name, value]));
        const answer = await setting.api.call(method, `${bare}${bare.includes('?') ? '&' : '?'}${search}`, valid.body);
        isRefused(answer, 400, 'E0000001');
        assert.match(causes(answer).join(), new RegExp(`^${name}: `));
      };
      await refused('1', '2');
      await refused('nul\u0000byte');
      if (name === 'limit') for (const value of ['', '0', '-1', '1.5', '201', '1e2', 'ten', '99999999999999999999']) await refused(value);
      if (name === 'page') for (const value of ['', '0', '-1', '1.5', '1e2', 'ten', '99999999999999999999']) await refused(value);
      if (name === 'after') for (const value of ['', '-1', 'x', '99999999999999999999']) await refused(value);
    }
    assert.equal(await setting.eventCount(), before, 'nothing was changed');
  });

  if (declared.body !== undefined) {
    it('refuses bodies of another type, form and content type', async () => {
      const valid = await repeatableCall();
      const before = await setting.eventCount();
      const send = (body: string, type = 'application/json') =>
        setting.api.call(method, addressOf(path, valid), body, { 'content-type': type });
      const sent = JSON.stringify(valid.body ?? {});
      for (const body of ['{', '[]', '"text"', 'null', '4711', `${sent}x`]) {
        const answer = await send(body);
        assert.ok(['E0000001', 'E0000003'].includes(answer.body.errorCode), `${body}: ${answer.status} ${answer.body.errorCode}`);
        assert.equal(answer.status, 400);
      }
      const most = access === 'anyone' ? MOST_BODY.withoutToken : (declared.bodyLimit ?? MOST_BODY.ordinary);
      isRefused(await send(`{"a":"${'x'.repeat(most * 1024)}"}`), 400, 'E0000003');
      isRefused(await send(sent, 'text/plain'), 400, 'E0000003');
      isRefused(await send('a=b', 'application/x-www-form-urlencoded'), 400, 'E0000003');
      assert.equal(await setting.eventCount(), before, 'nothing was changed');
    });

    it('refuses unknown fields, and each field with a wrong type, by its name', async () => {
      const valid = await repeatableCall();
      const before = await setting.eventCount();
      const refused = async (field: string, body: unknown) => {
        const answer = await setting.api.call(method, addressOf(path, valid), body);
        isRefused(answer, 400, 'E0000001');
        assert.ok(
          causes(answer).some((cause) => cause.startsWith(field)),
          `${field}: ${JSON.stringify(answer.body.errorCauses)}`,
        );
      };
      await refused('nonsense: ', { ...valid.body, nonsense: true });
      const schema = described().requestBody?.content['application/json'].schema;
      assert(schema, 'the body is described');
      for (const [field, body] of mistaken(setting.document, schema, valid.body)) {
        // Of what is typed to sign in nothing is told, not even that nobody can be called so.
        if (access !== 'anyone' || !JSON.stringify(body).includes('\\u0000')) await refused(field, body);
      }
      assert.equal(await setting.eventCount(), before, 'nothing was changed');
    });
  }
}
