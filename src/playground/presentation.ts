/**
 * What the playground shows of a finished sign-in: tokens taken apart (RFC 7519 section 3, RFC 9068 for access tokens), as locals of
 * `views/playground-result.ejs`. The signatures were checked before; here is only display.
 */
import { decodeJwt, decodeProtectedHeader, errors } from 'jose';
import { SERVERS, type SignIn } from './relying-party.ts';

/** A token as the page shows it. */
export interface TokenView {
  readonly value: string;
  /** First and last characters, enough to tell two tokens apart. */
  readonly excerpt: string;
  /** Its parts as JSON text, when it is a JWT; absent: an opaque token. */
  readonly decoded?: { readonly header: string; readonly claims: string };
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export function presentToken(value: string): TokenView {
  const excerpt = value.length > 24 ? `${value.slice(0, 8)}…${value.slice(-8)}` : value;
  try {
    return { value, excerpt, decoded: { header: json(decodeProtectedHeader(value)), claims: json(decodeJwt(value)) } };
  } catch (error) {
    // jose reports what is no JWT as a TypeError or as one of its own.
    if (error instanceof TypeError || error instanceof errors.JOSEError) return { value, excerpt };
    throw error;
  }
}

/** @returns the locals of the result page */
export function presentSignIn(signIn: SignIn) {
  const { userinfo, endSession } = signIn;
  return {
    title: 'Signed in',
    wide: true,
    stylesheets: ['playground.css'],
    name: [userinfo.name, userinfo.preferred_username].find((value) => typeof value === 'string' && value !== '') ?? userinfo.sub,
    server: { id: signIn.server, label: SERVERS[signIn.server].label, issuer: signIn.issuer },
    scopes: signIn.scope.split(' '),
    expiresIn: signIn.expiresIn,
    tokens: [
      {
        id: 'id-token',
        title: 'ID token',
        purpose: 'Who signed in, when and how: signed by the server, meant for this application alone.',
        token: presentToken(signIn.idToken),
      },
      {
        id: 'access-token',
        title: 'Access token',
        purpose:
          'What the application shows to an API. An opaque one means nothing by itself: the API asks the server about it (introspection).',
        token: presentToken(signIn.accessToken),
      },
      {
        id: 'refresh-token',
        title: 'Refresh token',
        purpose: 'With it the application gets new access tokens without asking you again.',
        token: signIn.refreshToken === undefined ? undefined : presentToken(signIn.refreshToken),
      },
    ],
    userinfo: json(userinfo),
    signOut: { action: endSession.origin + endSession.pathname, parameters: [...endSession.searchParams] },
  };
}
