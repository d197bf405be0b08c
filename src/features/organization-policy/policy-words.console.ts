/** The policy of an organization in words: on its own page, and in the simulator. */
import type { Piece } from '../../pages/console/detail-page.ts';
import { counted, phrase } from '../../platform/i18n/phrase.ts';
import type { OrganizationPolicy } from './organization-policy.policy.ts';

export const AS_SERVICE: Piece = { text: 'As for the service', soft: true };

export const idleInWords = ({ sessionIdleMinutes }: OrganizationPolicy): Piece =>
  sessionIdleMinutes === null ? AS_SERVICE : { text: counted(sessionIdleMinutes, '{count} minute', '{count} minutes') };

export const lifetimeInWords = ({ sessionLifetimeHours }: OrganizationPolicy): Piece =>
  sessionLifetimeHours === null ? AS_SERVICE : { text: counted(sessionLifetimeHours, '{count} hour', '{count} hours') };

/** One-line summary of the requirements. */
export const organizationPolicyInWords = (policy: OrganizationPolicy): readonly Piece[] => {
  const { mfa, sessionIdleMinutes, sessionLifetimeHours } = policy;
  return [
    ...(mfa === 'REQUIRED' ? [{ text: 'A second factor is required.', tone: 'good' as const }] : []),
    ...(sessionIdleMinutes === null
      ? []
      : [
          {
            text: phrase('Users sign in again after {time} without a sign-in for it.', {
              time: counted(sessionIdleMinutes, '{count} minute', '{count} minutes'),
            }),
          },
        ]),
    ...(sessionLifetimeHours === null
      ? []
      : [{ text: phrase('Users sign in again after {time}.', { time: counted(sessionLifetimeHours, '{count} hour', '{count} hours') }) }]),
  ];
};
