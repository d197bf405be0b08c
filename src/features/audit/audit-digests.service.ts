/**
 * The digests that seal the audit log: of an event, with its personal parts as salted commitments that remain verifiable after the data is erased; of
 * a batch; and of a seal, which is also signed with a key of SECRET_KEY (HMAC, RFC 2104). features/audit/audit-chain.policy.ts defines the hashed
 * texts.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { digest, type Keyring, sameSecret } from '../../platform/crypto/secrets.ts';
import { canonicalJson } from '../../platform/validation/canonical-json.policy.ts';
import { type AuditRecord, personalParts, publicForm, type SealedBatch, sealForm } from './audit-chain.policy.ts';

/** The salt of each part by name; the digest after the part was erased. */
export type Commitments = Readonly<Record<string, { readonly salt: string } | { readonly digest: string }>>;

/** Sequence number and digest of an event. */
export type Entry = readonly [seq: number, digest: string];

const commitmentTo = (value: unknown, salt: string): string => createHmac('sha256', salt).update(canonicalJson(value)).digest('base64url');

/** @returns a fresh salt for each personal part */
export const newCommitments = (event: AuditRecord): Commitments =>
  Object.fromEntries(personalParts(event).map(({ name }) => [name, { salt: randomBytes(16).toString('base64url') }]));

/** Keeps the commitments of removed parts without their salt, so nobody can guess the removed values. */
export function closeCommitments(event: AuditRecord, commitments: Commitments, names: ReadonlySet<string>): Commitments {
  const digests = digestsOf(event, commitments);
  return Object.fromEntries(
    Object.entries(commitments).map(([name, kept]) => [name, names.has(name) ? { digest: digests[name] ?? '' } : kept]),
  );
}

function digestsOf(event: AuditRecord, commitments: Commitments): Record<string, string | undefined> {
  return Object.fromEntries(
    personalParts(event).map(({ name, value }) => {
      const kept = commitments[name];
      if (kept === undefined) return [name, undefined];
      return [name, 'salt' in kept ? commitmentTo(value, kept.salt) : kept.digest];
    }),
  );
}

export const eventDigest = (event: AuditRecord, commitments: Commitments): string =>
  digest(canonicalJson({ event: publicForm(event), personal: digestsOf(event, commitments) }));

export const contentDigest = (entries: readonly Entry[]): string => digest(canonicalJson(entries));
export const sealHash = (seal: SealedBatch): string => digest(sealForm(seal));

export interface Signature {
  readonly keyId: string;
  readonly mac: string;
}

/** Record that this seal's events and all earlier ones were removed. */
export interface Removal {
  readonly n: number;
  readonly hash: string;
  readonly removed: Date;
}

/** Signs with the newest key of SECRET_KEY, and verifies signatures of all keys. */
export class AuditSigner {
  readonly #keys: ReadonlyMap<string, Buffer>;
  /** ID of the signing key. */
  readonly keyId: string;

  constructor(keyring: Keyring) {
    this.#keys = keyring.keysFor('audit seals');
    const [newest = ''] = this.#keys.keys();
    this.keyId = newest;
  }

  signSeal = (hash: string): Signature => this.#sign(`seal ${hash}`);
  signRemoval = (removal: Removal): Signature => this.#sign(`removal ${canonicalJson(removal)}`);
  /** @returns undefined if the key is not in SECRET_KEY */
  isSealRight = (hash: string, signature: Signature): boolean | undefined => this.#isRight(`seal ${hash}`, signature);
  isRemovalRight = (removal: Removal, signature: Signature): boolean | undefined =>
    this.#isRight(`removal ${canonicalJson(removal)}`, signature);

  #sign(text: string): Signature {
    return { keyId: this.keyId, mac: this.#macOf(text, this.keyId) ?? '' };
  }

  #isRight(text: string, { keyId, mac }: Signature): boolean | undefined {
    const expected = this.#macOf(text, keyId);
    return expected === undefined ? undefined : sameSecret(mac, expected);
  }

  #macOf(text: string, keyId: string): string | undefined {
    const key = this.#keys.get(keyId);
    return key && createHmac('sha256', key).update(text).digest('base64url');
  }
}
