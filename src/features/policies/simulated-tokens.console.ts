/** The simulator's result about tokens: their lifetimes and claims. */
import { LIFETIMES } from '../../../config/defaults.ts';
import { claimInWords } from '../../pages/console/decision-steps.ts';
import type { Fact, Part, TextPart } from '../../pages/console/detail-page.ts';
import { durationOf } from '../../pages/console/durations.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import type { SimulatedResult } from './simulation.service.ts';

export function lifetimesOf({ hookedLifetimes: hooked, access: { lifetimes, rule }, tokens }: SimulatedResult): Part {
  const says =
    rule?.actions.token === undefined
      ? 'As the server.'
      : phrase('As the rule “{rule}”. Values that it leaves empty come from the server.', { rule: rule.name });
  const facts: Fact[] = [
    ...(tokens?.accessToken === undefined
      ? []
      : [{ label: 'Access token', value: durationOf(hooked.access ?? lifetimes.accessTokenSeconds) }]),
    ...(tokens?.idToken === undefined ? [] : [{ label: 'ID token', value: durationOf(hooked.identity ?? LIFETIMES.idToken) }]),
    ...(tokens?.refreshToken !== true
      ? []
      : [
          { label: 'Refresh token, from the sign-in on', value: durationOf(lifetimes.refreshTokenSeconds) },
          { label: 'Refresh token, from the last use on', value: durationOf(lifetimes.refreshTokenWindowSeconds) },
        ]),
  ];
  return { kind: 'facts', title: 'Lifetimes', lead: says, facts };
}

export function decidedClaims({ tokens }: SimulatedResult): readonly Part[] {
  const claims = tokens?.claims ?? [];
  if (claims.length === 0) return [];
  const rows = claims.map((step) => ({
    cells: [{ text: step.claim, code: true }, phrase(step.claimType === 'RESOURCE' ? 'Access token' : 'ID token'), claimInWords(step)],
  }));
  const title = 'Claims of the authorization server';
  return [{ kind: 'table', title, name: title, columns: ['Claim', 'For', 'Result'], rows, empty: '' }];
}

export function textsOf({ tokens, server }: SimulatedResult): readonly TextPart[] {
  const text = (id: string, name: string, lead: string, claims: object | undefined): TextPart[] =>
    claims === undefined
      ? []
      : [
          {
            kind: 'text',
            id,
            title: name,
            name: phrase('{name} as JSON', { name: phrase(name) }),
            lead,
            text: JSON.stringify(claims, null, 2),
          },
        ];
  const ofAccessToken =
    server.accessTokenFormat === 'jwt'
      ? 'The claims of the JWT, without times and ID.'
      : 'It is opaque. This is the introspection response, without times.';
  return [
    ...text('access-token', 'Access token', ofAccessToken, tokens?.accessToken),
    ...text('id-token', 'ID token', 'Without its times, hashes, nonce, session and ways of authentication.', tokens?.idToken),
    ...text('userinfo', 'Userinfo', 'The response of the endpoint to the access token.', tokens?.userinfo),
  ];
}
