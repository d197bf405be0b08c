/**
 * Calls of a SCIM target (RFC 7644), with a bearer token or by OAuth client credentials (RFC 6749 section 4.4). A target that does not answer, or does not know us,
 * is away for all users; everything else concerns one.
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

/** The target as a whole does not work: it is away, busy, or refuses the credentials. */
export class TargetAway extends Error {
  override readonly name = 'TargetAway';
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
/** Seconds for which a token is kept at most. */
const LONGEST_TOKEN = 3600;

export const targetSecretContext = (applicationId: string): string => `provisioning:${applicationId}`;

export interface ScimTarget {
  /** @returns undefined where it is not @throws {TargetAway} @throws {TargetRefusal} */
  read(path: string): Promise<ScimObject | undefined>;
  /** The resources that a filter finds; those that do not match are left out by the caller. @throws {TargetAway} @throws {TargetRefusal} */
  find(type: 'Users' | 'Groups', filter: string): Promise<readonly ScimObject[]>;
  /** @returns its ID @throws {TargetAway} @throws {TargetRefusal} 409: there is one already */
  create(type: 'Users' | 'Groups', resource: ScimObject): Promise<string>;
  /** @returns false when it is not there any more @throws {TargetAway} @throws {TargetRefusal} */
  replace(path: string, resource: ScimObject): Promise<boolean>;
  /** One that is not there is deleted. @throws {TargetAway} @throws {TargetRefusal} */
  remove(path: string): Promise<void>;
}

interface Token {
  readonly value: string;
  readonly until: number;
  readonly of: number;
}

/** By application, of this process. */
const tokens = new Map<string, Token>();

const tokenResponse = z.object({
  // As RFC 6750 section 2.1 allows it: an error that quotes a header would show anything else.
  access_token: z
    .string()
    .max(16_384)
    .regex(/^[\w.~+/-]+=*$/),
  expires_in: z.coerce.number().positive().catch(60).default(60),
});
const problem = z.object({ detail: z.string().optional(), scimType: z.string().optional() });
const listed = z.object({ Resources: z.array(z.record(z.string(), z.unknown())).default([]) });
const remoteId = z.union([z.string(), z.number()]).transform(String).pipe(z.string().min(1).max(1000).refine(isPrintable));
/** Can it be the ID of a resource? */
export const isRemoteId = (value: unknown): boolean => remoteId.safeParse(value).success;
const created = z.object({ id: remoteId });
/** Levels of a resource. What is deeper is nobody's user. */
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
    const { status, text } = await exchange(auth.tokenUrl, 'POST', form.toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    });
    const parsed = status === 200 ? tokenResponse.safeParse(jsonIn(text)) : undefined;
    if (parsed?.success !== true) throw new TargetAway(`the token endpoint answered ${status}${told(text)}`);
    const lifetime = Math.min(parsed.data.expires_in, LONGEST_TOKEN) - 30;
    tokens.set(applicationId, { value: parsed.data.access_token, until: present().getTime() + lifetime * 1000, of: version });
    return parsed.data.access_token;
  }

  async function exchange(url: string, method: string, body: string | undefined, headers: Record<string, string>) {
    try {
      const answer = await call(url, { method, headers: { 'user-agent': 'Gatehouse', ...headers }, ...(body !== undefined && { body }) });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      throw new TargetAway(reasonOf(error));
    }
  }

  async function request(method: string, path: string, body?: ScimObject, isSecond = false): Promise<{ status: number; text: string }> {
    const headers = {
      accept: SCIM_JSON,
      authorization: `Bearer ${await fetchToken()}`,
      ...(body !== undefined && { 'content-type': SCIM_JSON }),
    };
    const answer = await exchange(`${baseUrl}${path}`, method, body && JSON.stringify(body), headers);
    if (answer.status === 401 && auth.type === 'OAUTH' && !isSecond) {
      tokens.delete(applicationId);
      return request(method, path, body, true);
    }
    if (AWAY.has(answer.status))
      throw new TargetAway(`${method} ${path.replace(/\?.*/, '')} was answered with ${answer.status}${told(answer.text)}`);
    return answer;
  }

  function refuse(method: string, path: string, { status, text }: { status: number; text: string }): TargetRefusal {
    return new TargetRefusal(status, `${method} ${path.replace(/\?.*/, '')} was answered with ${status}${told(text)}`);
  }

  const isGood = ({ status }: { status: number }) => status >= 200 && status <= 299;

  return {
    async read(path) {
      const answer = await request('GET', path);
      if (answer.status === 404) return undefined;
      const resource = jsonIn(answer.text);
      if (!isGood(answer) || !isResource(resource) || jsonProblem(resource, DEPTH) !== undefined) throw refuse('GET', path, answer);
      return resource;
    },
    async find(type, filter) {
      const path = `/${type}?${new URLSearchParams({ filter, count: '2' })}`;
      const answer = await request('GET', path);
      const parsed = listed.safeParse(jsonIn(answer.text));
      if (!isGood(answer) || !parsed.success || jsonProblem(parsed.data.Resources, DEPTH) !== undefined) throw refuse('GET', path, answer);
      return parsed.data.Resources;
    },
    async create(type, resource) {
      const answer = await request('POST', `/${type}`, resource);
      const parsed = created.safeParse(jsonIn(answer.text));
      if (!isGood(answer) || !parsed.success) throw refuse('POST', `/${type}`, answer);
      return parsed.data.id;
    },
    async replace(path, resource) {
      const answer = await request('PUT', path, resource);
      if (answer.status === 404) return false;
      if (!isGood(answer)) throw refuse('PUT', path, answer);
      return true;
    },
    async remove(path) {
      const answer = await request('DELETE', path);
      if (!isGood(answer) && answer.status !== 404) throw refuse('DELETE', path, answer);
    },
  };
}

const isResource = (value: unknown): value is ScimObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the target says of it (RFC 7644 section 3.12), in one line. */
function told(text: string): string {
  const parsed = problem.safeParse(jsonIn(text));
  const words = parsed.success ? [parsed.data.scimType, parsed.data.detail].filter((word) => word !== undefined).join(': ') : '';
  return words === '' ? '' : ` (${shortened(words.replaceAll(/\p{Cc}/gu, ' '), 300)})`;
}
