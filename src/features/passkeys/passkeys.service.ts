/**
 * WebAuthn Level 3 ceremonies (sections 7.1 and 7.2) with @simplewebauthn/server: options for the browser, and verification of responses.
 * passkey-proofs.service.ts decides about sign-ins; the pages carry the challenge.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ALL_SERVERS } from '../../protocol/storage/protocol-state.store.ts';
import { insertOnce } from '../../protocol/storage/protocol-writes.store.ts';
import type { Passkey } from './passkeys.resource.ts';
import type { PasskeyUse } from './passkeys.store.ts';

/** Loaded on first use: with its certificates it takes a tenth of the service's start time and memory. */
const library = () => import('@simplewebauthn/server');

/** WebAuthn relying party. */
export interface PasskeyRelyingParty {
  /** Host of BASE_URL or PASSKEY_RP_ID (WebAuthn section 5.1.2, "RP ID"), regardless of the request's host. */
  readonly id: string;
  readonly origin: string;
}

/** @returns undefined if BASE_URL has an IP address: browsers do not support passkeys there */
export function passkeyRelyingParty({ baseUrl, passkeyRpId }: Pick<Config, 'baseUrl' | 'passkeyRpId'>): PasskeyRelyingParty | undefined {
  const { hostname, origin } = new URL(baseUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { id: passkeyRpId ?? hostname, origin } : undefined;
}

/**
 * Origins that may use the passkeys of the host in PASSKEY_RP_ID; browsers request the list there (WebAuthn Level 3 section 5.11, related origins).
 * @returns undefined if passkeys belong to the host of BASE_URL
 */
export const relatedOrigins = ({ baseUrl, passkeyRpId }: Pick<Config, 'baseUrl' | 'passkeyRpId'>): readonly string[] | undefined =>
  passkeyRpId === undefined ? undefined : [new URL(baseUrl).origin];

/** Timeout in the browser in milliseconds: enough time to find a key or a phone (WebAuthn section 15.1). */
const CEREMONY_TIMEOUT_MS = 300_000;
const bytes = (base64url: string) => new Uint8Array(Buffer.from(base64url, 'base64url'));
const known = (passkeys: readonly Passkey[]) =>
  passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports: [...transports] }));

/**
 * Options for requesting a passkey (WebAuthn section 5.5).
 * @param challenge base64url
 * @param passkeys accepted passkeys; undefined: any discoverable passkey with user verification
 * @returns JSON
 */
export async function requestOptions(party: PasskeyRelyingParty, challenge: string, passkeys?: readonly Passkey[]): Promise<string> {
  const userVerification = passkeys === undefined ? 'required' : 'preferred';
  const allowed = passkeys && { allowCredentials: known(passkeys) };
  const { generateAuthenticationOptions } = await library();
  return JSON.stringify(
    await generateAuthenticationOptions({
      rpID: party.id,
      challenge: bytes(challenge),
      timeout: CEREMONY_TIMEOUT_MS,
      userVerification,
      ...allowed,
    }),
  );
}

/** User of a new passkey. */
export interface PasskeyUser {
  readonly login: string;
  /** Empty when they have none. */
  readonly name: string;
  /** The user handle for authenticators, base64url. */
  readonly handle: string;
  /** Existing passkeys, which are not created a second time. */
  readonly passkeys: readonly Passkey[];
}

/**
 * Options for creating a passkey (WebAuthn section 5.4): discoverable and with user verification, so that it can be the only factor. Attestation is
 * not required.
 * @returns JSON
 */
export async function creationOptions(party: PasskeyRelyingParty, challenge: string, user: PasskeyUser, service: string): Promise<string> {
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: service,
    rpID: party.id,
    challenge: bytes(challenge),
    timeout: CEREMONY_TIMEOUT_MS,
    userID: bytes(user.handle),
    userName: user.login,
    userDisplayName: user.name || user.login,
    attestationType: 'none',
    excludeCredentials: known(user.passkeys),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return JSON.stringify(options);
}

/** A browser's response: JSON as it was posted. */
export interface PasskeyResponse {
  /** base64url */
  readonly challenge: string;
  readonly credential: string;
}

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** Fields that the checks use (WebAuthn section 5.1, toJSON); others are dropped. */
const common = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.unknown().transform(() => ({})),
};
const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});
const TRANSPORT = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);
const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z
      .array(z.unknown())
      .max(20)
      .optional()
      .transform((named) => [...new Set((named ?? []).flatMap((each) => TRANSPORT.safeParse(each).data ?? []))]),
  }),
});

function read<T>(schema: z.ZodType<T>, credential: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(credential)).data;
  } catch {
    return undefined;
  }
}

/** Unverified content of a response: the passkey and the user it names. */
export interface Assertion {
  readonly credentialId: string;
  readonly userHandle: string | undefined;
  /** @returns the result for this passkey; undefined: invalid */
  verify(passkey: Passkey, options: { readonly userVerified: boolean }): Promise<PasskeyUse | undefined>;
}

/** @returns undefined if it is not the response of a passkey */
export function readAssertion(
  services: Pick<Services, 'log'>,
  party: PasskeyRelyingParty,
  { challenge, credential }: PasskeyResponse,
): Assertion | undefined {
  const response = read(assertion, credential);
  if (response === undefined) return undefined;
  const { userHandle, ...signed } = response.response;
  return {
    credentialId: response.id,
    userHandle,
    verify: ({ credentialId: id, publicKey, multiDevice }, { userVerified }) =>
      checked(services, async () => {
        const { verifyAuthenticationResponse } = await library();
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...response, response: signed },
          expectedChallenge: challenge,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          requireUserVerification: userVerified,
          // The store compares the count, so that concurrent uses are compared in order.
          credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
        });
        const { newCounter: signCount, credentialBackedUp: backedUp, credentialDeviceType } = authenticationInfo;
        // WebAuthn section 7.2 step 19: backup eligibility never changes.
        const isSame = multiDevice === (credentialDeviceType === 'multiDevice');
        return verified && isSame ? { signCount, backedUp } : undefined;
      }),
  };
}

/** A newly created passkey. */
export interface MadePasskey extends Pick<Passkey, 'credentialId' | 'publicKey' | 'transports' | 'multiDevice' | 'backedUp' | 'aaguid'> {
  readonly signCount: number;
  /** Was the user present and verified? Not if a password manager created it automatically. */
  readonly userVerified: boolean;
}

/**
 * @param options.byItself may a password manager have created it automatically (WebAuthn Level 3 section 5.1.3, conditional mediation)?
 * @returns undefined if the response does not match the request
 */
export async function verifyCreation(
  services: Pick<Services, 'log'>,
  party: PasskeyRelyingParty,
  { challenge, credential }: PasskeyResponse,
  { byItself = false }: { readonly byItself?: boolean } = {},
): Promise<MadePasskey | undefined> {
  const response = read(registration, credential);
  if (response === undefined) return undefined;
  return checked(services, async () => {
    const { verifyRegistrationResponse } = await library();
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserPresence: !byItself,
      requireUserVerification: !byItself,
    });
    // WebAuthn section 7.1 step 25: credential IDs have at most 1,023 bytes, which are 1,364 characters of base64url.
    if (!verified || info.credential.id.length > 1364) return undefined;
    return {
      credentialId: info.credential.id,
      publicKey: Buffer.from(info.credential.publicKey),
      transports: response.response.transports,
      multiDevice: info.credentialDeviceType === 'multiDevice',
      backedUp: info.credentialBackedUp,
      aaguid: info.aaguid,
      signCount: info.credential.counter,
      userVerified: info.userVerified,
    };
  });
}

/** The library throws for every invalid response. */
async function checked<T>({ log }: Pick<Services, 'log'>, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    log.debug({ err: error }, 'refused a passkey response');
    return undefined;
  }
}

/** Uses a challenge, whatever the response. @returns false if it was used before; of concurrent calls one gets true */
export function claimChallenge({ database }: Pick<Services, 'database'>, challenge: string): Promise<boolean> {
  const now = epochSeconds();
  const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
  const id = digest(`passkey challenge ${challenge}`);
  const row = { model: 'ReplayDetection', id, serverKey: ALL_SERVERS, payload: {}, ...nobody } as const;
  // At least as long as the challenge is valid.
  return insertOnce(database.pool, { ...row, expiresAt: now + 2 * LIFETIMES.passkeyChallenge }, now);
}
