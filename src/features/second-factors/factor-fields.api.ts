/** A second factor as Okta's Factors API shows it: an authenticator app is a `token:software:totp` of Google, no matter who made it, a passkey `webauthn` of FIDO. */
import { z } from 'zod';
import { time, writeTime } from '../../api/fields.ts';
import type { SecondFactor } from './factors.service.ts';

export const factorFields = {
  id: z.string(),
  factorType: z.enum(['token:software:totp', 'webauthn']),
  provider: z.enum(['GOOGLE', 'FIDO']),
  vendorName: z.enum(['GOOGLE', 'FIDO']),
  profile: z.object({ credentialId: z.string(), authenticatorName: z.string() }),
};

export const factorStates = { status: z.literal('ACTIVE'), created: time, lastUpdated: time };

/** @param login of the user, by whom apps know the account */
export function presentFactor(factor: SecondFactor, login: string) {
  const { id, name } = factor;
  if (factor.type === 'PASSKEY') return { id, ...PASSKEY, profile: { credentialId: factor.credentialId, authenticatorName: name } };
  return { id, ...APP, profile: { credentialId: login, authenticatorName: name } };
}

const APP = { factorType: 'token:software:totp', provider: 'GOOGLE', vendorName: 'GOOGLE' } as const;
const PASSKEY = { factorType: 'webauthn', provider: 'FIDO', vendorName: 'FIDO' } as const;

/** A factor does not change but by use. */
export const presentStates = ({ created, lastUsed }: SecondFactor) => ({
  status: 'ACTIVE' as const,
  created: writeTime(created),
  lastUpdated: writeTime(lastUsed ?? created),
});
