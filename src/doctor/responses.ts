/** Parses responses of the authorize endpoint: a redirect, a self-submitting form, or a page. */
import { formOf } from './browser.ts';
import { jsonOf, type Reply } from './http-client.ts';
import { Broken, must, mustEqual } from './rule.ts';

export type ResponseParameters = Readonly<Record<string, string | undefined>>;
export type ResponseFields = Readonly<Record<string, string>>;
export type Json = Readonly<Record<string, unknown>>;

export interface Arrival {
  readonly place: 'query' | 'fragment' | 'form_post' | 'page';
  readonly fields: ResponseFields;
  readonly reply: Reply;
}

/** @param reply the last response: the redirect to the application, or the page */
export function authorizationResponseOf(reply: Reply): Arrival {
  const { location, text } = reply;
  if (location === undefined) {
    const form = formOf(text, 'form-post');
    return form === undefined ? { place: 'page', fields: {}, reply } : { place: 'form_post', fields: form.hidden, reply };
  }
  const place = location.hash === '' ? 'query' : 'fragment';
  const parameters = place === 'query' ? location.searchParams : new URLSearchParams(location.hash.slice(1));
  return { place, fields: Object.fromEntries(parameters), reply };
}

/** An error of token, introspect and revoke: only a code and a description. @param what the refused request, if there are several */
export function mustBeError(reply: Reply, error: string, what?: string): void {
  const ofWhat = what === undefined ? '' : ` of ${what}`;
  const body = jsonOf(reply);
  mustEqual(body.error, error, `error${ofWhat}`);
  mustEqual(reply.status, error === 'invalid_client' ? 401 : 400, `status${ofWhat}`);
  mustEqual(Object.keys(body).sort().join(' '), 'error error_description', `the fields of the error${ofWhat}`);
  must(typeof body.error_description === 'string' && body.error_description !== '', `the error${ofWhat} must have an error_description`);
}

/** @returns the claims of a JWT, unverified @throws {Broken} it is not a JWT */
export function claimsOf(jwt: unknown): Json {
  try {
    return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString()) as Json;
  } catch {
    throw new Broken('the value must be a JWT');
  }
}
