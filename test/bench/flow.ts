/** What a flow is, and how it speaks to a target: raw HTTP/1.1 over kept connections, the cheapest way for the generator. */
import { Agent, request } from 'node:http';
import type { Target, Tokens } from './target.ts';

export interface Flow<Context> {
  readonly name: string;
  /** Once for each of the concurrent users, not measured. */
  prepare(target: Target, tokens: Tokens): Context;
  /** One flow, measured. @throws when the answer is not the right one */
  request(context: Context): Promise<void>;
}

/** Declares a flow; what its context is stays its own matter. */
export const flow = <Context>(declared: Flow<Context>): Flow<Context> => declared;

/** Kept alive; as many connections as there are concurrent users. */
const agent = new Agent({ keepAlive: true });

export interface Prepared {
  readonly url: URL;
  readonly authorization: string;
}

export const basic = ({ clientId, clientSecret }: Target): string => `Basic ${btoa(`${clientId}:${clientSecret}`)}`;

/** Sends a form, or without one a GET. @returns the answer's JSON @throws unless the status is 200 */
export function send({ url, authorization }: Prepared, form?: string): Promise<Record<string, unknown>> {
  const headers = {
    authorization,
    ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(form) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: form === undefined ? 'GET' : 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${url.pathname}: ${answer.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(form);
  });
}
