/**
 * Every operation of the management API that Okta's SDK for Node.js has, called by the SDK with the valid call of test/api/stories.ts. The SDK must send it to that
 * address and show what was answered. More than one call of each, and what the fields mean, is in test/clients/okta-sdk.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@okta/okta-sdk-nodejs';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { nameOf } from '../api/operations.ts';
import { makeWith, STORIES, type ValidCall } from '../api/stories.ts';
import { type Json, shown } from '../clients/okta-sdk/client.ts';
import { afterwards } from '../support/afterwards.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

const SIGNED_IN = { uid: 'x', accountId: 'usr_1', login: 'ada', amr: ['pwd'], signedInAt: 1_700_000_000, expiresAt: 4_000_000_000 };

/** A method of the SDK, and the operation that it calls. */
interface Method {
  readonly api: string;
  readonly method: string;
  readonly declared: Endpoint;
  /** The SDK's names of what stands in the path, in its order; undefined: a word. */
  readonly inPath: readonly (string | undefined)[];
  /** The SDK's name of the body. */
  readonly bodyName: string;
}

const WORD = /^\{(\w+)\}$/;
const fits = (theirs: readonly string[], ours: readonly string[], isFree: (own: string) => boolean): boolean =>
  theirs.length === ours.length &&
  theirs.every((part, at) => {
    const own = ours[at] ?? '';
    return WORD.test(part) ? isFree(own) : part === own;
  });

/** @param path of the SDK, as `/api/v1/users/{userId}` */
function declaredAt(verb: string, path: string): Endpoint | undefined {
  const theirs = path.replace('/api/v1', '').split('/');
  const same = ENDPOINTS.filter(({ method }) => method === verb.toUpperCase());
  const parts = (one: Endpoint) => one.path.split('/');
  return (
    same.find((one) => fits(theirs, parts(one), (own) => own.startsWith(':'))) ??
    // A name of the SDK's that is always the same here, as in `meta/schemas/user/{schemaId}`.
    same.find((one) => fits(theirs, parts(one), () => true))
  );
}

/** Asks each method of the SDK where it would send its request. */
async function methodsOf(client: Client): Promise<Method[]> {
  const server = Reflect.get(Object(Reflect.get(client.userApi, 'api')), 'configuration').baseServer;
  let sent: (readonly [verb: string, path: string])[] = [];
  server.makeRequestContext = (path: string, verb: string) => {
    sent.push([verb, path]);
    throw new Error('not sent');
  };
  /** @param has does the caller give this parameter? @returns what was thrown, and the parameters that the method looked for */
  const ask = async (object: object, method: string, has: (name: string) => boolean): Promise<[thrown: object, looked: string[]]> => {
    const looked: string[] = [];
    const parameters = new Proxy(
      {},
      {
        get(_, name) {
          looked.push(String(name));
          return has(String(name)) ? 'given' : undefined;
        },
      },
    );
    sent = [];
    const thrown = await Promise.resolve()
      .then(() => Reflect.get(object, method).call(object, parameters))
      .catch((error: unknown) => error);
    return [Object(thrown), looked];
  };
  const methods: Method[] = [];
  for (const [api, object] of Object.entries(client).filter(([name]) => name.endsWith('Api'))) {
    for (const method of methodNames(object)) {
      const [, looked] = await ask(object, method, () => true);
      const [[verb, path] = ['', '']] = sent;
      const declared = declaredAt(verb, path);
      if (declared === undefined) continue;
      const inPath = path
        .replace('/api/v1', '')
        .split('/')
        .map((part) => WORD.exec(part)?.[1]);
      // A body that it must have is missed; one that it may have comes last.
      const [{ field }] = (await ask(object, method, (name) => inPath.includes(name))) as [{ readonly field?: string }, string[]];
      methods.push({ api, method, declared, inPath, bodyName: field ?? looked.at(-1) ?? '' });
    }
  }
  delete server.makeRequestContext;
  return methods;
}

function methodNames(object: object): string[] {
  const kind = Object.getPrototypeOf(object);
  const own = Object.getOwnPropertyNames(kind).filter((name) => name !== 'constructor');
  return kind === Object.prototype ? [] : [...new Set([...own, ...methodNames(kind)])];
}

/** Without it the SDK takes an application for one of no kind, and sends no settings. */
const KIND_OF_APPLICATION = { name: 'oidc_client', signOnMode: 'OPENID_CONNECT' };

/** Calls it with the parameters of a valid call, under the SDK's names. */
function callBy(
  client: Client,
  { api, method, declared, inPath, bodyName }: Method,
  { params = {}, query = {}, body }: ValidCall,
): Promise<unknown> {
  const given: Json = { ...query, cookie: '' };
  const parts = declared.path.split('/');
  for (const [at, part] of parts.entries()) {
    const name = inPath[at];
    if (name !== undefined) given[name] = part.startsWith(':') ? params[part.slice(1)] : part;
  }
  const isApplication = parts[1] === 'apps' && parts.length < 4;
  if (body !== undefined) given[bodyName] = isApplication ? { ...KIND_OF_APPLICATION, ...body } : body;
  const object = Reflect.get(client, api);
  return object[method].call(object, given);
}

test('every operation that Okta’s SDK for Node.js has too, called by the SDK', async (t) => {
  const api: ManagementApi = await startManagementApi({ sessions: { current: async () => SIGNED_IN, forget: async () => undefined } });
  afterwards(t, () => api.close());
  const make = makeWith(api);
  const orgUrl = api.base.replace('/api/v1', '');
  const methods = await methodsOf(new Client({ orgUrl, token: api.admin.token }));
  assert.ok(methods.length >= 144, `${methods.length}`);
  const problems: Record<string, string> = {};
  for (const one of methods) {
    const name = `${one.api}.${one.method}`;
    const client = new Client({ orgUrl, token: api.admin.token });
    const answers: { readonly request: string; readonly text: string }[] = [];
    const { requestExecutor } = client;
    const send = requestExecutor.fetch.bind(requestExecutor);
    requestExecutor.fetch = async (request: { method: string; url: string }) => {
      const response = await send(request as never);
      answers.push({ request: `${request.method} ${new URL(request.url).pathname}`, text: await response.clone().text() });
      return response;
    };
    try {
      const valid = await STORIES[nameOf(one.declared)]?.(make);
      assert.ok(valid !== undefined);
      const result = await callBy(client, one, valid);
      const seen = Reflect.has(Object(result), 'each') ? await firstOf(result as AsyncIterable<unknown>, answers) : result;
      assert.ok(answers[0] !== undefined, 'nothing was sent');
      if (result !== undefined) showsTheSame(shown(seen), JSON.parse(answers[0].text));
    } catch (error) {
      problems[name] = `${nameOf(one.declared)}: ${error instanceof Error ? error.message : error}`;
    }
  }
  assert.deepEqual(problems, {});
});

/** The items of the first page. */
async function firstOf(collection: AsyncIterable<unknown>, answers: readonly { readonly text: string }[]): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of collection) {
    if (item !== null) items.push(item);
    if (items.length === JSON.parse(answers[0]?.text ?? '[]').length) break;
  }
  return items;
}

/** Each text, number and truth value that the SDK shows is the one that was answered; of a list, its items. */
function showsTheSame(seen: unknown, answered: unknown): void {
  if (Array.isArray(answered)) {
    assert.ok(Array.isArray(seen) && seen.length >= answered.length, 'the list');
    for (const [at, item] of answered.entries()) showsTheSame(seen[at], item);
    return;
  }
  const same = Object.entries(Object(answered)).filter(([name, value]) => typeof value !== 'object' && name in Object(seen));
  assert.ok(same.length > 0 || Object.keys(Object(answered)).length === 0, `nothing of ${Object.keys(Object(answered))}`);
  for (const [name, value] of same) assert.equal(Reflect.get(Object(seen), name), value, name);
}
