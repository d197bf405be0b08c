/**
 * Okta's own SDK for Node.js, unmodified and with its default settings: its retries, its memory of what it has read, its models. An HTTPS check that
 * would have to be off for this, earlier versions had; 8.1.0 has none. What its models do not name, it does not show: those fields are asserted in test/api.
 */
import assert from 'node:assert/strict';
import { Client, type Collection, OktaApiError } from '@okta/okta-sdk-nodejs';
import { API_TOKEN, type ServiceCalls } from '../../support/service.ts';

export const oktaClient = ({ baseUrl }: ServiceCalls, token = API_TOKEN): Client => new Client({ orgUrl: baseUrl, token });

export type Json = Record<string, unknown>;

/** What the SDK made of an answer, as plain data: its dates are written out again, and what it found nothing for is absent. */
export const shown = (model: unknown): Json => JSON.parse(JSON.stringify(model)) as Json;

/** As `shown`, with the times apart; each must be a moment of this test. */
export function timed<Name extends string>(model: unknown, ...names: readonly Name[]): Record<Name, string> & { readonly rest: Json } {
  const rest = shown(model);
  const times = names.map((name) => {
    const value: unknown = Reflect.get(Object(model), name);
    assert.ok(value instanceof Date, `${name} is a date to the SDK`);
    const time = String(rest[name]);
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 60_000, `${name}: ${time}`);
    delete rest[name];
    return [name, time];
  });
  return { ...(Object.fromEntries(times) as Record<Name, string>), rest };
}

/** All of a list, over every page. */
export async function all<T>(collection: Promise<Collection<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of await collection) if (item !== null) items.push(item);
  return items;
}

/** @returns the refusal of a call, as the SDK shows it: status, code, summary, causes */
export async function refusal(call: Promise<unknown>): Promise<[number, string | number, string, (string | undefined)[]]> {
  const error = await call.then(
    () => assert.fail('the call was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof OktaApiError, String(error));
  assert.equal(error.errorLink, error.errorCode);
  assert.match(error.errorId, /^[\w-]{16,}$/);
  return [error.status, error.errorCode, error.errorSummary, (error.errorCauses ?? []).map((cause) => cause.errorSummary)];
}

/** A resource by the names that the SDK has for it, as in `createOAuth2Scope({ authServerId, oAuth2Scope })` and `getOAuth2Scope({ authServerId, scopeId })`. */
interface Names {
  readonly name: string;
  readonly plural?: string;
  readonly id: string;
  readonly body: string;
  /** Whose it is. */
  readonly of?: Readonly<Record<string, string>>;
  readonly times?: readonly ('created' | 'lastUpdated')[];
  /** Can it be inactive? */
  readonly hasStates?: boolean;
  /** What only the answer to the creation tells is left out of it. */
  toldLater?(shown: Json): Json;
}

/**
 * Creates one, reads, lists, changes, deactivates and deletes it, as the SDK's own examples do: what was read is changed and sent back whole.
 * @param expected all that the SDK shows of a new one beside its times, by its id and what is shown
 * @param changed what is changed, and shown after that
 */
export async function wholeLife(
  api: object,
  { name, plural = `${name}s`, id: idName, body, of = {}, times = ['created', 'lastUpdated'], hasStates = false, toldLater }: Names,
  given: object,
  expected: (id: string, shown: Json) => Json,
  changed: Json,
): Promise<void> {
  const call = (method: string, parameters: object): Promise<unknown> => Reflect.get(api, method).call(api, { ...of, ...parameters });
  const made = await call(`create${name}`, { [body]: given });
  const id = String(shown(made).id);
  const read = () => call(`get${name}`, { [idName]: id });
  const first = timed(made, ...times);
  assert.equal(first.created, first.lastUpdated);
  assert.deepEqual(first.rest, expected(id, first.rest));
  const later = toldLater?.(shown(made)) ?? shown(made);
  assert.deepEqual(shown(await read()), later);
  const listed = await all(call(`list${plural}`, { limit: 1 }) as Promise<Collection<unknown>>);
  assert.deepEqual(
    listed.map(shown).filter((one) => one.id === id),
    [later],
    'on one of the pages of the list',
  );

  const whole = Object.assign((await read()) as object, changed);
  const replaced = await call(`replace${name}`, { [idName]: id, [body]: whole });
  const { created, lastUpdated, rest } = timed(replaced, ...times);
  assert.deepEqual(rest, { ...(toldLater?.(first.rest) ?? first.rest), ...changed });
  assert.deepEqual([created, times.length === 0 || lastUpdated > first.lastUpdated], [first.created, true]);
  assert.deepEqual(shown(await read()), shown(replaced), 'the SDK remembers nothing older');

  const turns = hasStates ? (['deactivate', 'activate', 'deactivate'] as const) : [];
  for (const turn of turns) {
    const answer = await call(`${turn}${name}`, { [idName]: id });
    const now = shown(await read());
    assert.equal(now.status, turn === 'activate' ? 'ACTIVE' : 'INACTIVE');
    if (answer !== undefined) assert.deepEqual(shown(answer), now);
  }
  assert.equal(await call(`delete${name}`, { [idName]: id }), undefined);
  assert.deepEqual((await refusal(read())).slice(0, 2), [404, 'E0000007']);
}

/** @returns the paths that the SDK asks for from now on, as they come */
export function requestsOf(client: Client): string[] {
  const requests: string[] = [];
  client.requestExecutor.on('request', ({ url, method }: { url: string; method: string }) => {
    const { pathname, search } = new URL(url);
    requests.push(`${method} ${pathname}${search}`);
  });
  return requests;
}
