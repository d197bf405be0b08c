/**
 * Passkeys in tests without a browser: an authenticator in software that answers what a page asks (WebAuthn Level 3 sections 6.1 and 6.5), and can be told to
 * answer wrongly. ES256 and attestation "none".
 */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { recoveryCodesOn } from './factors.ts';
import type { ServiceCalls } from './service.ts';
import { type Page, UserAgent } from './user-agent.ts';

/** What an authenticator does differently from an honest one that verifies its user. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly userVerified?: boolean;
  /** false: made by a password manager that asked nobody. */
  readonly userPresent?: boolean;
  readonly challenge?: string;
  readonly type?: string;
  /** Of the assertion; 0: it does not count. */
  readonly signCount?: number;
  readonly userHandle?: string | undefined;
  /** Signed by another key. */
  readonly foreignKey?: boolean;
  readonly credentialId?: string;
  /** May the key leave its device, of a sudden? */
  readonly multiDevice?: boolean;
}

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly userVerification?: string;
  readonly allowCredentials?: readonly { readonly id: string }[];
  readonly excludeCredentials?: readonly { readonly id: string }[];
  readonly authenticatorSelection?: Record<string, unknown>;
}

const decode = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#34|#39);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', '#39': "'" })[name] ?? '"');

/** What a page asks the browser for. */
export function askedOn(page: Page): Options {
  const [, options] = /data-options="([^"]*)"/.exec(page.text) ?? [];
  assert(options !== undefined, `no passkey is asked for at ${page.url}: ${page.text.slice(0, 2000)}`);
  return JSON.parse(decode(options));
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** One passkey, and what holds it. */
export class Authenticator {
  readonly credentialId = randomBytes(32).toString('base64url');
  readonly #keys = newKey();
  #signCount = 0;
  userHandle: string | undefined;

  /** @param multiDevice may the key leave its device? @param counts does it count its uses? */
  constructor(
    readonly origin: string,
    readonly options: { readonly multiDevice?: boolean; readonly counts?: boolean } = {},
  ) {}

  /** @returns what `navigator.credentials.create` gives, JSON */
  create(asked: Options, deviation: Deviation = {}): string {
    this.userHandle = asked.user?.id;
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const publicKey = isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]),
    );
    const id = Buffer.from(deviation.credentialId ?? this.credentialId, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([this.#data(asked, deviation, 0x40, 0), Buffer.alloc(16), length, id, publicKey]);
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ]);
    return JSON.stringify({
      ...this.#named(deviation),
      response: {
        clientDataJSON: this.#client('webauthn.create', asked, deviation).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['internal', 'hybrid', '<b>unknown</b>'],
      },
    });
  }

  /** @returns what `navigator.credentials.get` gives, JSON */
  get(asked: Options, deviation: Deviation = {}): string {
    if (this.options.counts !== false) this.#signCount += 1;
    const authenticatorData = this.#data(asked, deviation, 0, deviation.signCount ?? this.#signCount);
    const clientData = this.#client('webauthn.get', asked, deviation);
    const key: KeyObject = deviation.foreignKey ? newKey().privateKey : this.#keys.privateKey;
    const userHandle = 'userHandle' in deviation ? deviation.userHandle : this.userHandle;
    return JSON.stringify({
      ...this.#named(deviation),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), key).toString('base64url'),
        ...(userHandle !== undefined && { userHandle }),
      },
    });
  }

  #named({ credentialId: id = this.credentialId }: Deviation) {
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
  }

  #client(type: string, asked: Options, deviation: Deviation): Buffer {
    const challenge = deviation.challenge ?? asked.challenge;
    return Buffer.from(
      JSON.stringify({ type: deviation.type ?? type, challenge, origin: deviation.origin ?? this.origin, crossOrigin: false }),
    );
  }

  #data(
    asked: Options,
    { rpId, userVerified = true, userPresent = true, multiDevice = this.options.multiDevice }: Deviation,
    attested: number,
    signCount: number,
  ): Buffer {
    const flags = (userPresent ? 0x01 : 0) | (userVerified ? 0x04 : 0) | (multiDevice ? 0x08 | 0x10 : 0) | attested;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(signCount);
    return Buffer.concat([sha256(rpId ?? asked.rpId ?? asked.rp?.id ?? ''), Buffer.from([flags]), count]);
  }
}

/** Answers the form of a page. */
export const prove = (browser: UserAgent, page: Page, authenticator: Authenticator, deviation?: Deviation): Promise<Page> =>
  browser.submit(page, 'passkey-form', { credential: authenticator.get(askedOn(page), deviation) });

export interface PasskeyUser {
  readonly id: string;
  readonly login: string;
  readonly password: string;
  readonly authenticator: Authenticator;
  readonly recoveryCodes: readonly string[];
  /** Signed in, with the passkey. */
  readonly browser: UserAgent;
}

/** A user who has made a passkey on the page of his account. */
export async function userWithPasskey(
  service: ServiceCalls,
  { name = 'My key', options = {} }: { readonly name?: string; readonly options?: Authenticator['options'] } = {},
): Promise<PasskeyUser> {
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const security = await browser.signIn(await browser.visit('/account/security'), user);
  const { shown, authenticator } = await addPasskey(browser, security, { name, options });
  const recoveryCodes = recoveryCodesOn(shown);
  assert.equal(recoveryCodes.length, 10, shown.text);
  return { ...user, authenticator, recoveryCodes, browser };
}

/** @param security the page of the account */
export async function addPasskey(
  browser: UserAgent,
  security: Page,
  { name = 'My key', options = {} }: { readonly name?: string; readonly options?: Authenticator['options'] } = {},
): Promise<{ readonly shown: Page; readonly authenticator: Authenticator }> {
  const authenticator = new Authenticator(browser.origin, options);
  const page = await browser.submit(security, 'add-passkey-form');
  const shown = await browser.submit(page, 'passkey-form', { name, credential: authenticator.create(askedOn(page)) });
  return { shown, authenticator };
}
