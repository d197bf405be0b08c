/** Requests of tests. Node's fetch takes four times the processor time for the same request (docs/performance/2026-11-26-tests.md). */
import { Agent, request } from 'undici';

/** What tests read of a response. */
export type Received = Pick<Response, 'status' | 'ok' | 'headers' | 'text' | 'json' | 'arrayBuffer'>;

const connections = new Agent();

/** What fetch sends where a request does not say otherwise. */
const DEFAULTS: Readonly<Record<string, string>> = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
};
const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';

/** Like fetch, but follows no redirect, and has read the body when it resolves. A body that is neither a text nor a form goes by fetch. */
export async function sendRequest(address: string | URL, init: RequestInit = {}): Promise<Received> {
  const { method = 'GET', headers = {}, body, signal = null } = init;
  const isForm = body instanceof URLSearchParams;
  if (body !== undefined && body !== null && typeof body !== 'string' && !isForm) return fetch(address, { ...init, redirect: 'manual' });
  const sent: Record<string, string> = { ...DEFAULTS };
  if (isForm) sent['content-type'] = FORM;
  else if (body) sent['content-type'] = 'text/plain;charset=UTF-8';
  const named = headers instanceof Headers ? headers : Object.entries(headers);
  for (const [name, value] of named) sent[name.toLowerCase()] = String(value);
  const answer = await request(address, {
    method,
    headers: sent,
    body: isForm ? body.toString() : (body ?? null),
    signal,
    dispatcher: connections,
  });
  return received(answer.statusCode, answer.headers, await answer.body.arrayBuffer());
}

function received(status: number, named: Readonly<Record<string, string | string[] | undefined>>, body: ArrayBuffer): Received {
  const headers = new Headers();
  for (const [name, value] of Object.entries(named)) for (const one of [value ?? []].flat()) headers.append(name, one);
  const text = async () => new TextDecoder().decode(body);
  return {
    status,
    ok: status >= 200 && status < 300,
    headers,
    text,
    json: async () => JSON.parse(await text()),
    arrayBuffer: async () => body,
  };
}
