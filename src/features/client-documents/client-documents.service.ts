/**
 * Client ID metadata documents, fetched by the guarded HTTP client and cached as their headers say, at most a day. Anyone can cause fetches, so
 * cached bytes, concurrent fetches, and fetches per network are limited.
 */
import { LRUCache } from 'lru-cache';
import type { Response } from 'undici';
import { atMost } from '../../platform/cache/cache.ts';
import { present } from '../../platform/clock/clock.ts';
import { createSemaphore } from '../../platform/concurrency/semaphore.ts';
import { Overloaded } from '../../platform/database/database-failures.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import { ClientDocumentRefused, type DocumentClient, readClientDocument } from './client-document.service.ts';

/** Maximum bytes of a document. */
const LARGEST_DOCUMENT = 5 * 1024;
/** Maximum bytes of all cached documents; the parsed metadata is several times as large. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Estimated bytes of a cache entry in addition to its text. */
const OVERHEAD = 1024;
const MOST_REFUSALS = 5000;
const MOST_NETWORKS = 10_000;

/** Cache time in seconds: minimum, maximum, and default if the headers do not say. */
const [SHORTEST, LONGEST, DEFAULT] = [60, 86_400, 300];
/** Seconds until a refused document is tried again. */
const REFUSED_FOR = 60;

/** Maximum fetches per network in ten minutes: enough for an office whose users start to use a new client. */
const MOST_FETCHES = 60;
const FETCHES_WITHIN_MS = 600_000;
/** Maximum concurrent fetches, and maximum requests that wait for one. */
const [AT_ONCE, WAITING] = [16, 200];

interface Kept {
  readonly client: DocumentClient;
  readonly bytes: number;
  /** Epoch seconds. */
  readonly fetchedAt: number;
  readonly freshUntil: number;
}

/** On whose behalf a document is fetched: a network of clients, or the service itself. */
export interface Requester {
  readonly network: string;
}

interface Parts {
  readonly outbound: Outbound;
  readonly rateLimits: boolean;
}

const now = (): number => present().getTime() / 1000;

export class ClientDocuments {
  readonly #kept = new LRUCache<string, Kept>({ maxSize: MOST_BYTES, sizeCalculation: ({ bytes }) => bytes + OVERHEAD });
  readonly #refused = new LRUCache<string, { readonly refusal: ClientDocumentRefused; readonly until: number }>({
    ...atMost(MOST_REFUSALS),
  });
  readonly #fetching = new Map<string, Promise<DocumentClient>>();
  readonly #fetches = new LRUCache<string, { count: number }>({ ...atMost(MOST_NETWORKS), ttl: FETCHES_WITHIN_MS });
  readonly #semaphore = createSemaphore(AT_ONCE, WAITING);

  constructor(readonly parts: Parts) {}

  /** Number of cached documents and refusals. */
  get size(): number {
    return this.#kept.size + this.#refused.size;
  }

  /**
   * @param id a client ID that is a URL
   * @returns the same object while the document is cached
   * @throws {ClientDocumentRefused}
   */
  async find(id: string, requester: Requester): Promise<DocumentClient> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && kept.freshUntil > now()) return kept.client;
    const refused = this.#refused.get(id);
    if (refused !== undefined && refused.until > now()) throw refused.refusal;
    let fetching = this.#fetching.get(id);
    if (fetching === undefined) {
      this.#count(requester);
      fetching = this.#fetch(id).finally(() => this.#fetching.delete(id));
      this.#fetching.set(id, fetching);
    }
    return fetching;
  }

  #count({ network }: Requester): void {
    if (!this.parts.rateLimits) return;
    const counted = this.#fetches.get(network) ?? { count: 0 };
    if (counted.count >= MOST_FETCHES)
      throw new ClientDocumentRefused('too many clients were introduced from this address, try again in a few minutes', true);
    counted.count += 1;
    if (counted.count === 1) this.#fetches.set(network, counted);
  }

  async #fetch(id: string): Promise<DocumentClient> {
    try {
      const { text, seconds } = await this.#semaphore(() => load(this.parts.outbound, id));
      const client = readClientDocument(id, text);
      const fetchedAt = now();
      this.#kept.set(id, { client, bytes: Buffer.byteLength(text), fetchedAt, freshUntil: fetchedAt + seconds });
      this.#refused.delete(id);
      return client;
    } catch (error) {
      if (error instanceof Overloaded)
        throw new ClientDocumentRefused('too many clients are introduced at once, try again in a moment', true);
      if (!(error instanceof ClientDocumentRefused)) throw error;
      return this.#afterFailure(id, error);
    }
  }

  /** If the host is unreachable, the former document stays valid for up to a day. An invalid or deleted one is dropped immediately. */
  #afterFailure(id: string, refusal: ClientDocumentRefused): DocumentClient {
    const former = this.#kept.peek(id);
    if (refusal.passing && former !== undefined && former.fetchedAt + LONGEST > now()) {
      this.#kept.set(id, { ...former, freshUntil: Math.min(now() + SHORTEST, former.fetchedAt + LONGEST) });
      return former.client;
    }
    this.#kept.delete(id);
    this.#refused.set(id, { refusal, until: now() + REFUSED_FOR });
    throw refusal;
  }
}

/** @returns the document and its cache time in seconds @throws {ClientDocumentRefused} */
async function load(outbound: Outbound, id: string): Promise<{ readonly text: string; readonly seconds: number }> {
  let response: Response;
  try {
    response = await outbound(id, { headers: { accept: 'application/json' } });
  } catch {
    // Does not say which of the reasons applies: the sender of a URL must not learn which addresses of our network respond.
    throw new ClientDocumentRefused(
      'the document cannot be fetched: its address must be public and answer with 200, without a redirect',
      true,
    );
  }
  const { status, headers } = response;
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const problem =
    status !== 200
      ? `the document is answered with the status ${status}`
      : type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)
        ? undefined
        : 'the document must have the media type application/json';
  if (problem !== undefined) {
    await response.body?.cancel();
    throw new ClientDocumentRefused(problem, status >= 500 || status === 429);
  }
  return { text: await readBounded(response), seconds: secondsOf(response) };
}

async function readBounded({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body ?? []) {
      bytes += (piece as Uint8Array).length;
      // Leaving the loop cancels the stream.
      if (bytes > LARGEST_DOCUMENT) throw new ClientDocumentRefused(`the document is larger than ${LARGEST_DOCUMENT} bytes`);
      pieces.push(piece as Uint8Array);
    }
  } catch (error) {
    throw error instanceof ClientDocumentRefused ? error : new ClientDocumentRefused('the document could not be read in time', true);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Cache time of a response in seconds (RFC 9111 section 4.2.1), limited to our minimum and maximum. */
function secondsOf({ headers }: Response): number {
  const control = headers.get('cache-control') ?? '';
  const said = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,10})/i.exec(control)?.[1];
  const expires = Date.parse(headers.get('expires') ?? '');
  const seconds = /(?:^|[\s,])no-(?:store|cache)\b/i.test(control)
    ? 0
    : said !== undefined
      ? Number(said) - Number(headers.get('age') ?? 0)
      : Number.isNaN(expires)
        ? DEFAULT
        : expires / 1000 - now();
  return Number.isNaN(seconds) ? DEFAULT : Math.min(LONGEST, Math.max(SHORTEST, seconds));
}
