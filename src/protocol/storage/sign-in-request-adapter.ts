/**
 * Sign-in requests of applications (OpenID Connect CIBA Core 1.0). The `auth_req_id` is stored as a digest. In mode ping it is also stored sealed
 * with the client's notification token, because both are sent to the client. Until the user answers, only a column contains the user: the library
 * treats a field `accountId` as an answer. The answer is that of a device code (device-code-adapter.ts), which finds the row by its code.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { pingContext } from '../../features/backchannel-requests/ping.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { type Keyring, randomBase62 } from '../../platform/crypto/secrets.ts';
import type { AdapterPayload } from '../library/oidc-provider.ts';
import { userCodeDigests } from './device-code-adapter.ts';
import { ModelAdapter } from './model-adapter.ts';
import type { FoundModel } from './protocol-state.store.ts';
import { keyOfHandle, rowKey } from './row-keys.ts';
import type { ServerState } from './server-state.ts';

/** Seconds that a row outlives its request, so that the application can be told that it has expired. */
const KEPT = LIFETIMES.interaction;

/** The library's account for an unknown user: the request is stored like others, but nobody can answer it. */
export const UNKNOWN_USER = 'nobody';

/** Letters that the library's format for user codes leaves unchanged. 26 of them cannot be guessed, and the code works only for its user. */
const newCode = (): string => randomBase62(26).toUpperCase();

/** Parameters that are not stored: secrets and hints about the user. */
const NOT_KEPT = ['client_notification_token', 'binding_message', 'id_token_hint', 'login_hint_token', 'user_code', 'request_context'];

export class SignInRequestAdapter extends ModelAdapter {
  constructor(
    server: ServerState,
    readonly keyring: Keyring,
  ) {
    super('BackchannelAuthenticationRequest', server);
  }

  override async upsert(id: string, { params, exp, ...payload }: AdapterPayload, expiresIn: number): Promise<void> {
    const entries = Object.entries((params ?? {}) as Record<string, unknown>);
    const { client_notification_token: token, binding_message: message } = Object.fromEntries(entries);
    const key = rowKey(id);
    const code = newCode();
    const until = exp ?? epochSeconds() + expiresIn;
    const row = {
      model: this.model,
      id: key,
      serverKey: this.server.key,
      payload: {
        kind: this.model,
        iat: payload.iat,
        clientId: payload.clientId,
        params: Object.fromEntries(entries.filter(([name]) => !NOT_KEPT.includes(name))),
        code,
        message,
        until,
        ...(token !== undefined && { notify: this.keyring.seal(JSON.stringify({ id, token }), pingContext(key)) }),
      },
      accountId: payload.accountId === UNKNOWN_USER ? undefined : payload.accountId,
      clientId: payload.clientId,
      grantId: undefined,
      uid: userCodeDigests(this.keyring, code)[0],
      expiresAt: until + KEPT,
    };
    await this.server.write(({ writes }) => writes.insert(row));
  }

  /** Interactions store a handle. At the token endpoint it is not a valid auth_req_id. */
  override async find(id: string): Promise<AdapterPayload | undefined> {
    return keyOfHandle(id) === undefined ? super.find(id) : undefined;
  }

  protected override present(id: string, found: FoundModel, isConsumed: boolean): AdapterPayload {
    const { until, notify: _, code: __, message: ___, ...payload } = super.present(id, found, isConsumed) as AdapterPayload & Waiting;
    return { ...payload, exp: until };
  }
}

/** Columns beside the library's fields. */
interface Waiting {
  readonly until: number;
  readonly code: string;
  readonly message?: string | undefined;
  readonly notify?: string | undefined;
}
