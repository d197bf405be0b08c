/**
 * Client of a SCIM target (RFC 7644), with a bearer token or OAuth client credentials (RFC 6749 section 4.4). Refused credentials and rate limits
 * affect the target. Other errors can be about one user: `check` finds out.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import { jsonProblem } from '../../platform/validation/json-value.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { reasonOf, shortened } from '../outbox/outbox.service.ts';
import type { ScimObject } from '../scim/scim-attributes.policy.ts';
import type { ProvisioningTarget } from './provisioning.resource.ts';

interface Failure {
  /** HTTP status; absent: no response. */
  readonly status?: number;
  /** Seconds that the target asks to wait. */
  readonly retryAfter?: number | undefined;
}

/** The target is unavailable or busy, or refuses the credentials. */
export class TargetUnavailable extends Error {
  override readonly name = 'TargetUnavailable';
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;
  constructor(message: string, { status, retryAfter }: Failure = {}) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The target refuses one resource. */
export class TargetRefusal extends Error {
  override readonly name = 'TargetRefusal';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const SCIM_JSON = 'application/scim+json';
const AWAY = new Set([401, 403, 408, 429, 502, 503, 504]);
/** Maximum seconds of a target's Retry-After, because removals wait for it. */
const LONGEST_PAUSE = 3600;
/** Maximum cache time of a token in seconds. */
const LONGEST_TOKEN = 3600;

export const targetSecretContext = (applicationId: string): string => `provisioning:${applicationId}`;

export interface ScimTarget {
  /**
   * Checks whether the target responds with these credentials. Called if a failure may be specific to one resource.
   * @throws {TargetUnavailable} it does not
   */
  check(): Promise<void>;
  /** @returns undefined if it does not exist @throws {TargetUnavailable} @throws {TargetRefusal} */
  read(path: string): Promise<ScimObject | undefined>;
  /**
   * The resources that a filter finds. A target may ignore the filter, so the caller checks each one.
   * @throws {TargetUnavailable}
   * @throws {TargetRefusal}
   */
  find(type: 'Users' | 'Groups', filter: string): Promise<readonly ScimObject[]>;
  /** @returns its ID @throws {TargetUnavailable} @throws {TargetRefusal} 409: there is one already */
  create(type: 'Users' | 'Groups', resource: ScimObject): Promise<string>;
  /** @returns false if it no longer exists @throws {TargetUnavailable} @throws {TargetRefusal} */
  replace(path: string, resource: ScimObject): Promise<boolean>;
  /** @returns false if it does not exist @throws {TargetUnavailable} @throws {TargetRefusal} */
  remove(path: string): Promise<boolean>;
}

interface Token {
  readonly value: string;
  readonly until: number;
  readonly of: number;
}

/** Token cache of this process, by application. */
const tokens = new Map<string, Token>();

const tokenResponse = z.object({
  // Syntax of RFC 6750 section 2.1: with other values, an error message that quotes the header could reveal the token.
  access_token: z
    .string()
    .max(16_384)
    .regex(/^[\w.~+/-]+=*$/),
  expires_in: z.coerce.number().positive().catch(60).default(60),
});
const problem = z.object({ detail: z.string().optional(), scimType: z.string().optional() });
const listed = z.object({ Resources: z.array(z.record(z.string(), z.unknown())).default([]) });
const remoteId = z
  .union([z.string(), z.number()])
  .transform(String)
  // As path segments, `.` and `..` would address something else.
  .pipe(
    z
      .string()
      .min(1)
      .max(1000)
      .refine(isPrintable)
      .refine((id) => id !== '.' && id !== '..'),
  );
/** Can it be the ID of a resource? */
export const isRemoteId = (value: unknown): boolean => remoteId.safeParse(value).success;
const created = z.object({ id: remoteId });
/** Maximum nesting of a resource. */
const DEPTH = 20;

export function scimTarget(keyring: Keyring, call: Outbound, target: ProvisioningTarget): ScimTarget {
  const { applicationId, baseUrl, auth } = target;
  const secret = keyring.open(target.secret, targetSecretContext(applicationId));

  async function fetchToken(): Promise<string> {
    if (auth.type === 'BEARER') return secret;
    const known = tokens.get(applicationId);
    const version = target.lastUpdated.getTime();
    if (known !== undefined && known.of === version && known.until > present().getTime()) return known.value;
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(auth.scope !== undefined && { scope: auth.scope }) });
    const credentials = [auth.clientId, secret].map((part) => encodeURIComponent(part)).join(':');
    const { status, text, retryAfter } = await exchange(auth.tokenUrl, 'POST', form.toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    });
    const parsed = status === 200 ? tokenResponse.safeParse(jsonIn(text)) : undefined;
    if (parsed?.success !== true)
      throw new TargetUnavailable(`the token endpoint answered ${status}${errorText(text)}`, { status: 401, retryAfter });
    const lifetime = Math.min(parsed.data.expires_in, LONGEST_TOKEN) - 30;
    tokens.set(applicationId, { value: parsed.data.access_token, until: present().getTime() + lifetime * 1000, of: version });
    return parsed.data.access_token;
  }

  async function exchange(url: string, method: string, body: string | undefined, headers: Record<string, string>): Promise<Answer> {
    try {
      const response = await call(url, { method, headers: { 'user-agent': 'Gatehouse', ...headers }, ...(body !== undefined && { body }) });
      const retryAfter = retryAfterIn(response.headers.get('retry-after'));
      return { status: response.status, retryAfter, text: await response.text().catch(tooLarge) };
    } catch (error) {
      throw new TargetUnavailable(reasonOf(error));
    }
  }

  async function request(method: string, path: string, body?: ScimObject, isSecond = false): Promise<Answer> {
    const headers = {
      accept: SCIM_JSON,
      authorization: `Bearer ${await fetchToken()}`,
      ...(body !== undefined && { 'content-type': SCIM_JSON }),
    };
    const response = await exchange(`${baseUrl}${path}`, method, body && JSON.stringify(body), headers);
    if (response.status === 401 && auth.type === 'OAUTH' && !isSecond) {
      tokens.delete(applicationId);
      return request(method, path, body, true);
    }
    if (AWAY.has(response.status))
      throw new TargetUnavailable(
        `${method} ${path.replace(/\?.*/, '')} was answered with ${response.status}${errorText(response.text)}`,
        response,
      );
    return response;
  }

  function refuse(method: string, path: string, { status, text }: Answer): TargetRefusal {
    return new TargetRefusal(status, `${method} ${path.replace(/\?.*/, '')} was answered with ${status}${errorText(text)}`);
  }

  const isGood = ({ status }: Answer) => status >= 200 && status <= 299;

  return {
    async check() {
      const { status } = await request('GET', `/Users?${new URLSearchParams({ filter: 'userName eq "gatehouse"', count: '1' })}`);
      if (status === 404) throw new TargetUnavailable(`${baseUrl}/Users is not there`, { status });
    },
    async read(path) {
      const response = await request('GET', path);
      if (response.status === 404) return undefined;
      const resource = jsonIn(response.text);
      if (!isGood(response) || !isResource(resource) || jsonProblem(resource, DEPTH) !== undefined) throw refuse('GET', path, response);
      return resource;
    },
    async find(type, filter) {
      const path = `/${type}?${new URLSearchParams({ filter, count: '2' })}`;
      const response = await request('GET', path);
      const parsed = listed.safeParse(jsonIn(response.text));
      if (!isGood(response) || !parsed.success || jsonProblem(parsed.data.Resources, DEPTH) !== undefined)
        throw refuse('GET', path, response);
      return parsed.data.Resources;
    },
    async create(type, resource) {
      const response = await request('POST', `/${type}`, resource);
      const parsed = created.safeParse(jsonIn(response.text));
      if (!isGood(response) || !parsed.success) throw refuse('POST', `/${type}`, response);
      return parsed.data.id;
    },
    async replace(path, resource) {
      const response = await request('PUT', path, resource);
      if (response.status === 404) return false;
      if (!isGood(response)) throw refuse('PUT', path, response);
      return true;
    },
    async remove(path) {
      const response = await request('DELETE', path);
      if (!isGood(response) && response.status !== 404) throw refuse('DELETE', path, response);
      return response.status !== 404;
    },
  };
}

interface Answer {
  readonly status: number;
  /** undefined: it is too large. */
  readonly text: string | undefined;
  readonly retryAfter: number | undefined;
}

/** A change needs only its status: some targets return all members of a group. */
function tooLarge(error: unknown): undefined {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  if (cause?.code !== 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw error;
}

/** @returns seconds (RFC 9110 section 10.2.3), within limits; undefined: invalid */
function retryAfterIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - present().getTime()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), LONGEST_PAUSE);
}

const isResource = (value: unknown): value is ScimObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** Error text of the target (RFC 7644 section 3.12), in parentheses and on one line; empty if there is none. */
function errorText(text: string | undefined): string {
  if (text === undefined) return ' (the answer is too large)';
  const parsed = problem.safeParse(jsonIn(text));
  const words = parsed.success ? [parsed.data.scimType, parsed.data.detail].filter((word) => word !== undefined).join(': ') : '';
  return words === '' ? '' : ` (${shortened(words.replaceAll(/\p{Cc}/gu, ' '), 300)})`;
}
