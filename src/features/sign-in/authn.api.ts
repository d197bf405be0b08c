/**
 * `authn`: sign-in by API, as in Okta's Authentication API. A correct user name and password give a one-time session token for the
 * authorize endpoint's parameter `sessionToken`, or a state token for the second factor or the replacement of an expired password.
 */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { idParams, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { factorFields, presentFactor } from '../second-factors/user-factors.api.ts';
import { authenticateByApi, changePasswordByApi, verifyByApi } from '../sessions/session-tokens.service.ts';

/** Any input: its problems are not reported. */
const typed = z.string().min(1).max(1024);

const attribute = z.string().nullable();
const verification = z.object({ verify: z.object({ href: z.url(), hints: z.object({ allow: z.array(z.literal('POST')) }) }) });

const transaction = z.object({
  status: z.enum(['SUCCESS', 'MFA_REQUIRED', 'MFA_CHALLENGE', 'PASSWORD_EXPIRED']),
  expiresAt: time,
  factorResult: z.literal('CHALLENGE').optional().meta({ description: 'With MFA_CHALLENGE: a code was sent' }),
  sessionToken: z.string().optional().meta({ description: 'With SUCCESS: signs one browser in, once, until it expires' }),
  stateToken: z.string().optional().meta({
    description:
      'With MFA_REQUIRED: goes with the proof of the second factor; five wrong ones end it. With PASSWORD_EXPIRED: goes with the new password',
  }),
  _embedded: z.object({
    user: z.object({
      id: z.string(),
      passwordChanged: time.nullable(),
      profile: z.object({ login: z.string(), firstName: attribute, lastName: attribute, locale: attribute, timeZone: attribute }),
    }),
    factor: z.object(factorFields).optional().meta({ description: 'With MFA_CHALLENGE: the factor whose code is expected' }),
    factors: z
      .array(z.object({ ...factorFields, _links: verification.partial() }))
      .optional()
      .meta({ description: 'Passkeys are listed without a link: they are proved on the sign-in page, which the authorize endpoint shows' }),
  }),
});

export const authn: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/authn',
    access: 'anyone',
    summary: 'Sign a user in by user name and password',
    body: z.strictObject({ username: typed, password: typed }),
    response: transaction,
    handler: async ({ services, body, request }) => present(await authenticateByApi(services, body, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'POST',
    path: '/authn/credentials/change_password',
    access: 'anyone',
    summary: 'Replace an expired password, and go on with the sign-in',
    body: z.strictObject({ stateToken: typed, oldPassword: typed, newPassword: typed }),
    response: transaction,
    handler: async ({ services, body, request }) => present(await changePasswordByApi(services, body, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'POST',
    path: '/authn/factors/:id/verify',
    access: 'anyone',
    summary: 'Prove a second factor by a code of the authenticator app, or by one that is sent; without passCode it is sent',
    params: idParams,
    body: z.strictObject({ stateToken: typed, passCode: typed.exactOptional() }),
    response: transaction,
    handler: async ({ services, params, body, request }) =>
      present(await verifyByApi(services, { ...body, factorId: params.id }, request), services.config.baseUrl),
  }),
];

type Outcome = Awaited<ReturnType<typeof authenticateByApi>>;

function present(outcome: Outcome, baseUrl: string): z.input<typeof transaction> {
  const { status, user, expiresAt } = outcome;
  const { firstName = null, lastName = null, locale = null, zoneinfo, timezone } = user.profile;
  const _embedded = {
    user: {
      id: user.id,
      passwordChanged: writeTimeOrNull(user.passwordChanged),
      profile: { login: user.login, firstName, lastName, locale, timeZone: zoneinfo ?? timezone ?? null },
    },
  };
  const common = { status, expiresAt: writeTime(expiresAt) };
  if (outcome.status === 'SUCCESS') return { ...common, sessionToken: outcome.value, _embedded };
  if (outcome.status === 'MFA_CHALLENGE') {
    const factor = presentFactor(outcome.factor, user.login);
    return { ...common, factorResult: 'CHALLENGE', stateToken: outcome.stateToken, _embedded: { ..._embedded, factor } };
  }
  if (outcome.status === 'PASSWORD_EXPIRED') return { ...common, stateToken: outcome.stateToken, _embedded };
  const factors = outcome.factors.map((factor) => ({
    ...presentFactor(factor, user.login),
    _links:
      factor.type === 'PASSKEY'
        ? {}
        : { verify: { href: `${baseUrl}/api/v1/authn/factors/${factor.id}/verify`, hints: { allow: ['POST' as const] } } },
  }));
  return { ...common, stateToken: outcome.stateToken, _embedded: { ..._embedded, factors } };
}
