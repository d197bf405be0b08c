/** A second factor as Okta's Factors API shows it: an authenticator app is a `token:software:totp` of Google, whoever made it. */
import { z } from 'zod';
import type { Factor } from '../store/factors.ts';
import { time, writeTime } from './fields.ts';

export const factorFields = {
  id: z.string(),
  factorType: z.literal('token:software:totp'),
  provider: z.literal('GOOGLE'),
  vendorName: z.literal('GOOGLE'),
  profile: z.object({ credentialId: z.string(), authenticatorName: z.string() }),
};

export const factorStates = { status: z.literal('ACTIVE'), created: time, lastUpdated: time };

/** @param login of the user, by whom apps know the account */
export const presentFactor = ({ id, name }: Factor, login: string) => ({
  id,
  factorType: 'token:software:totp' as const,
  provider: 'GOOGLE' as const,
  vendorName: 'GOOGLE' as const,
  profile: { credentialId: login, authenticatorName: name },
});

/** A factor does not change but by use. */
export const presentStates = ({ created, lastUsed }: Factor) => ({
  status: 'ACTIVE' as const,
  created: writeTime(created),
  lastUpdated: writeTime(lastUsed ?? created),
});
