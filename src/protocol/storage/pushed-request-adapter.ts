/**
 * Pushed authorization requests (RFC 9126). A request can contain a token (`id_token_hint`, `sessionToken`), so it is sealed under its own
 * `request_uri`, of which only a digest is stored. The row outlives the request by the time that a sign-in may take, so that a second use is noticed.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { decodeJwt, UnsecuredJWT } from 'jose';
import { LIFETIMES } from '../../../config/defaults.ts';
import type { AdapterPayload } from '../library/oidc-provider.ts';
import { ModelAdapter } from './model-adapter.ts';
import type { FoundModel } from './protocol-state.store.ts';
import { keyOfHandle, rowKey } from './row-keys.ts';
import type { ServerState } from './server-state.ts';

/** Seconds that a row outlives its `request_uri`. */
const KEPT = LIFETIMES.interaction;

export class PushedRequestAdapter extends ModelAdapter {
  constructor(server: ServerState) {
    super('PushedAuthorizationRequest', server);
  }

  override async upsert(id: string, { request, exp, ...payload }: AdapterPayload, expiresIn: number): Promise<void> {
    // Clocks of processes differ: the row decides whether the request has expired, not its `nbf`.
    const { iat: _, nbf: __, exp: ___, ...parameters } = decodeJwt(String(request));
    const until = Number(exp);
    const stored = { ...payload, clientId: parameters.iss, until, sealed: seal(id, JSON.stringify(parameters)), exp: until + KEPT };
    await super.upsert(id, stored as AdapterPayload, expiresIn + KEPT);
  }

  /** A deleted row counts as used: the sign-in took too long. */
  override async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await super.find(id);
    return found ?? (keyOfHandle(id) === undefined ? undefined : { kind: this.model, jti: id, consumed: true, request: '' });
  }

  protected override keyOf(id: string): string {
    return keyOfHandle(id) ?? rowKey(id);
  }

  protected override present(id: string, found: FoundModel, isConsumed: boolean): AdapterPayload {
    const { sealed, until, ...payload } = super.present(id, found, isConsumed) as AdapterPayload & { sealed: string; until: number };
    // A handle allows use, but not reading.
    const request = keyOfHandle(id) === undefined ? new UnsecuredJWT(JSON.parse(open(id, sealed))).encode() : '';
    return { ...payload, request, exp: until };
  }
}

const keyFor = (id: string): Buffer => Buffer.from(hkdfSync('sha256', id, 'gatehouse', 'pushed authorization request', 32));

/** Encrypts with AES-256-GCM. The result is nonce, ciphertext and tag in base64url. */
function seal(id: string, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(id), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function open(id: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keyFor(id), bytes.subarray(0, 12), { authTagLength: 16 }).setAuthTag(
    bytes.subarray(-16),
  );
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8');
}
