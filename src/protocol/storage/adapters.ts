/** Storage of each oidc-provider model. */
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Adapter } from '../library/oidc-provider.ts';
import { DeviceCodeAdapter } from './device-code-adapter.ts';
import { GrantAdapter, isStored, ModelAdapter } from './model-adapter.ts';
import { PushedRequestAdapter } from './pushed-request-adapter.ts';
import type { ServerState } from './server-state.ts';
import { SessionAdapter } from './session-adapter.ts';
import { SignInRequestAdapter } from './sign-in-request-adapter.ts';

interface AdapterParts {
  readonly clients: Adapter;
  readonly state: ServerState;
  readonly keyring: Keyring;
  /** Seconds. */
  readonly longestSession: number;
}

/** @returns the library's setting of the same name */
export const adapters =
  ({ clients, state, keyring, longestSession }: AdapterParts) =>
  (name: string): Adapter => {
    if (name === 'Client') return clients;
    if (name === 'DeviceCode') return new DeviceCodeAdapter(state, keyring);
    if (name === 'BackchannelAuthenticationRequest') return new SignInRequestAdapter(state, keyring);
    if (name === 'Grant') return new GrantAdapter(state);
    if (name === 'PushedAuthorizationRequest') return new PushedRequestAdapter(state);
    if (name === 'Session') return new SessionAdapter(state, longestSession);
    if (isStored(name)) return new ModelAdapter(name, state);
    throw new Error(`oidc-provider asks for a model that is not stored: ${name}`);
  };
