/**
 * Device codes (RFC 8628). The device has the device code, its user enters the user code. Both are stored as digests, the user code's with
 * a key. The user's answer is one conditional update, so only the first of two answers counts. The row outlives its code, so that the
 * device can be told that it has expired (section 3.5). An application's sign-in request (sign-in-request-adapter.ts) is answered in the
 * same way, only by the requested user: the library handles it as a device code.
 */
import { createHmac } from 'node:crypto';
import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import { type AdapterPayload, Provider } from '../library/oidc-provider.ts';
import { findDeviceCode } from './device-codes.store.ts';
import { keptOrganization, ModelAdapter } from './model-adapter.ts';
import type { FoundModel } from './protocol-state.store.ts';
import { handleOfKey, keyOfHandle, rowKey } from './row-keys.ts';
import type { ServerState } from './server-state.ts';
import { withoutUsableValues } from './stored-payload.ts';

// How the user codes of devices are stored and looked up. They are so short that a plain hash could be reversed.

/**
 * @param userCode in upper case, without hyphens
 * @returns HMAC-SHA-256, base64url, under each key of SECRET_KEY; the first is stored
 */
export function userCodeDigests(keyring: Keyring, userCode: string): readonly [stored: string, ...older: string[]] {
  const [newest, ...older] = keyring.keysOf('user codes of devices');
  const digestUnder = (key: Buffer): string => createHmac('sha256', key).update(userCode).digest('base64url');
  return [digestUnder(newest), ...older.map(digestUnder)];
}

/** Seconds that a row outlives its code: as long as a sign-in that it started may take. */
const KEPT = LIFETIMES.interaction;

/** `invalid_request`: the browser has lost its session, or another browser started the request. */
const NO_ANSWERS: ReadonlySet<unknown> = new Set(['server_error', 'temporarily_unavailable', 'invalid_request']);

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Stored in place of the device's data for a request of an application. */
interface SignInRequest {
  readonly isSignInRequest: true;
  /** Message of the application for the user (CIBA section 7.1). */
  readonly message?: string | undefined;
}

/** @param deviceCode the library's model @returns undefined: the request is a device's */
export function signInRequestOf({ deviceInfo }: { readonly deviceInfo?: unknown }): SignInRequest | undefined {
  const info = deviceInfo as SignInRequest | undefined;
  return info?.isSignInRequest === true ? info : undefined;
}

export const isSignInRequest = (deviceCode: object): boolean => signInRequestOf(deviceCode) !== undefined;

/** Does the sign-in request wait for the signed-in user? For other users it does not exist. */
const isForSessionsUser = (userId: string | undefined): boolean => userId !== undefined && Provider.ctx?.oidc.session?.accountId === userId;

export class DeviceCodeAdapter extends ModelAdapter {
  constructor(
    server: ServerState,
    readonly keyring: Keyring,
  ) {
    super('DeviceCode', server);
  }

  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const { userCode, inFlight, exp, ...rest } = payload;
    const isAnswered = rest.accountId !== undefined || rest.error !== undefined;
    // The library locks a code when its user starts to answer. A page that is left must not lock it: the first answer counts.
    if (inFlight && !isAnswered) return;
    // The user did not answer and can try again.
    if (NO_ANSWERS.has(rest.error)) return;
    const until = exp ?? epochSeconds() + expiresIn;
    const model = isSignInRequest(rest) ? 'BackchannelAuthenticationRequest' : this.model;
    const row = {
      model,
      id: this.keyOf(id),
      serverKey: this.server.key,
      payload: { ...withoutUsableValues(rest as AdapterPayload), kind: model, until },
      accountId: text(rest.accountId),
      clientId: text(rest.clientId),
      grantId: text(rest.grantId),
      uid: userCode === undefined ? undefined : userCodeDigests(this.keyring, userCode)[0],
      expiresAt: until + KEPT,
    };
    await this.server.write((request) => {
      Object.assign(row.payload, keptOrganization(request, row.grantId));
      if (isAnswered) request.writes.answer(row);
      else request.writes.insert(row);
    });
  }

  /** Interactions store a handle. At the token endpoint it is not a valid code. */
  override async find(id: string): Promise<AdapterPayload | undefined> {
    return keyOfHandle(id) !== undefined && Provider.ctx?.oidc.route === 'token' ? undefined : super.find(id);
  }

  override async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    const found = await this.server.read((pool) =>
      findDeviceCode(pool, userCodeDigests(this.keyring, userCode), epochSeconds(), this.server.key),
    );
    if (found === undefined || (found.model !== this.model && !isForSessionsUser(found.accountId))) return undefined;
    const { model, payload, expiresAt } = found;
    return {
      ...this.present(
        handleOfKey(found.key),
        { model, payload, consumedAt: undefined, expiresAt, account: undefined, organizationPolicy: null },
        false,
      ),
      userCode,
    };
  }

  protected override accepts({ model, account }: FoundModel, id: string): boolean {
    if (model === this.model) return true;
    return model === 'BackchannelAuthenticationRequest' && keyOfHandle(id) !== undefined && isForSessionsUser(account?.id);
  }

  protected override keyOf(id: string): string {
    return keyOfHandle(id) ?? rowKey(id);
  }

  protected override present(id: string, found: FoundModel, isConsumed: boolean): AdapterPayload {
    const { until, ...payload } = super.present(id, found, isConsumed) as AdapterPayload & { readonly until: number };
    if (found.model === this.model) return { ...payload, exp: until };
    const request: SignInRequest = { isSignInRequest: true, message: text(found.payload.message) };
    return { ...payload, kind: this.model, deviceInfo: { ...request }, exp: until };
  }
}
