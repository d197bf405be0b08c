/**
 * Okta's own SDK for Node.js, unmodified and with its default settings: its retries, its memory of what it has read, its models. An HTTPS check that
 * would have to be off for this, earlier versions had; 8.1.0 has none. What its models do not name, it does not show: those fields are asserted in test/api.
 */
import assert from 'node:assert/strict';
import { Client, type Collection, OktaApiError } from '@okta/okta-sdk-nodejs';
import { API_TOKEN, type ServiceCalls } from '../../support/service.ts';

export const oktaClient = ({ baseUrl }: ServiceCalls, token = API_TOKEN): Client => new Client({ orgUrl: baseUrl, token });

type Json = Record<string, unknown>;

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

/** @returns the paths that the SDK asks for from now on, as they come */
export function requestsOf(client: Client): string[] {
  const requests: string[] = [];
  client.requestExecutor.on('request', ({ url, method }: { url: string; method: string }) => {
    const { pathname, search } = new URL(url);
    requests.push(`${method} ${pathname}${search}`);
  });
  return requests;
}
