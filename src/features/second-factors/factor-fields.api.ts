/** A second factor as Okta's Factors API shows it: an authenticator app is a `token:software:totp` of Google, no matter who made it, a passkey `webauthn` of FIDO, codes that are sent are of OKTA. */
import { z } from 'zod';
import { time, writeTime } from '../../api/fields.ts';
import { MESSAGE_FACTORS, policyNameOf } from '../message-factors/message-factors.policy.ts';
import { isMessageFactor, type SecondFactor } from './factors.service.ts';

export const factorFields = {
  id: z.string(),
  factorType: z.enum(['token:software:totp', ...MESSAGE_FACTORS, 'webauthn']),
  provider: z.enum(['GOOGLE', 'FIDO', 'OKTA']),
  vendorName: z.enum(['GOOGLE', 'FIDO', 'OKTA']),
  profile: z.object({
    credentialId: z.string().optional(),
    authenticatorName: z.string().optional(),
    email: z.string().optional().meta({ description: 'Where the codes go, masked' }),
    phoneNumber: z.string().optional().meta({ description: 'Where the codes go: its last digits' }),
  }),
};

export const factorStates = {
  status: z
    .enum(['ACTIVE', 'PENDING_ACTIVATION', 'DISABLED'])
    .meta({ description: 'PENDING_ACTIVATION: its first code has not been entered; DISABLED: the sign-in policy does not allow it' }),
  created: time,
  lastUpdated: time,
};

/** @param login of the user, for the name of the account in apps */
export function presentFactor(factor: SecondFactor, login: string) {
  const { id, name } = factor;
  if (factor.type === 'PASSKEY') return { id, ...PASSKEY, profile: { credentialId: factor.credentialId, authenticatorName: name } };
  if (isMessageFactor(factor))
    return {
      id,
      factorType: policyNameOf(factor.type),
      ...OWN,
      profile: factor.type === 'EMAIL' ? { email: name } : { phoneNumber: name },
    };
  return { id, ...APP, profile: { credentialId: login, authenticatorName: name } };
}

const APP = { factorType: 'token:software:totp', provider: 'GOOGLE', vendorName: 'GOOGLE' } as const;
const OWN = { provider: 'OKTA', vendorName: 'OKTA' } as const;
const PASSKEY = { factorType: 'webauthn', provider: 'FIDO', vendorName: 'FIDO' } as const;

/** A factor does not change but by use. */
export const presentStates = (factor: SecondFactor) => ({
  status: isMessageFactor(factor) ? factor.status : ('ACTIVE' as const),
  created: writeTime(factor.created),
  lastUpdated: writeTime(factor.lastUsed ?? factor.created),
});
