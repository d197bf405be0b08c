/**
 * `authn`: sign-in by API. A right user name and password give a one-time session token, which the authorize endpoint takes as `sessionToken`; as
 * Okta's Authentication API shows it. Second factors are not here yet.
 */
import { z } from 'zod';
import { issueSessionToken } from '../services/session-tokens.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { time, writeTime, writeTimeOrNull } from './fields.ts';

/** Whatever was typed: what is wrong with it is not told. */
const typed = z.string().min(1).max(1024);

const attribute = z.string().nullable();

export const authn: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/authn',
    access: 'anyone',
    summary: 'Sign a user in by user name and password',
    body: z.strictObject({ username: typed, password: typed }),
    response: z.object({
      status: z.literal('SUCCESS'),
      expiresAt: time,
      sessionToken: z.string().meta({ description: 'Signs one browser in, once, until it expires' }),
      _embedded: z.object({
        user: z.object({
          id: z.string(),
          passwordChanged: time.nullable(),
          profile: z.object({ login: z.string(), firstName: attribute, lastName: attribute, locale: attribute, timeZone: attribute }),
        }),
      }),
    }),
    async handler({ services, body, request }) {
      const { value, expiresAt, user } = await issueSessionToken(services, body, request);
      const { firstName = null, lastName = null, locale = null, zoneinfo, timezone } = user.profile;
      return {
        status: 'SUCCESS' as const,
        expiresAt: writeTime(expiresAt),
        sessionToken: value,
        _embedded: {
          user: {
            id: user.id,
            passwordChanged: writeTimeOrNull(user.passwordChanged),
            profile: { login: user.login, firstName, lastName, locale, timeZone: zoneinfo ?? timezone ?? null },
          },
        },
      };
    },
  }),
];
