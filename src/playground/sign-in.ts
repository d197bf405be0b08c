/**
 * From an authorization response to tokens (OpenID Connect Core 1.0 sections 3.1.2.7, 3.2.2.8 and 3.3.2.8): verifies the response, exchanges its code
 * and requests userinfo. After an error, the results so far are kept for display.
 */

import { ProtocolProblem } from '../platform/http/protocol-problem.ts';
import { ENGLISH } from '../platform/i18n/messages.ts';
import type { Text } from '../platform/i18n/phrase.ts';
import { translatorOf } from '../platform/i18n/translator.ts';
import { checksOf, type Story } from './presentation.ts';
import type { ServerAccess } from './relying-party.ts';
import { type PlaygroundSession, type Transaction, withTokens } from './session.ts';

export interface Response {
  readonly parameters: URLSearchParams;
  readonly by: PlaygroundSession['receivedBy'];
}

export interface Finished {
  readonly session: PlaygroundSession;
  readonly problem?: ProtocolProblem;
}

/** @throws {ProtocolProblem} the server cannot be reached */
export async function finishSignIn(
  { parameters, by }: Response,
  transaction: Transaction,
  { server, issuer, serverName, clientId }: { server: ServerAccess; issuer: string; serverName: Text; clientId: string },
): Promise<Finished> {
  const { url, sent } = await server.authorizationRequest(transaction);
  let session: PlaygroundSession = {
    choices: transaction.choices,
    ...(transaction.secret !== undefined && { secret: transaction.secret }),
    issuer,
    nonce: transaction.nonce,
    endpoint: url.origin + url.pathname,
    sent,
    received: [...parameters],
    receivedBy: by,
    tokens: withoutNull({ 'id-token': parameters.get('id_token'), 'access-token': parameters.get('access_token') }),
    revoked: [],
  };
  const story: Omit<Story, 'session'> = { server, serverName, clientId };
  const refusal = refusalIn(parameters, issuer) ?? (await doubtAboutIdToken({ ...story, session }));
  if (refusal !== undefined) return { session, problem: refusal };

  const code = parameters.get('code');
  if (code !== null) {
    const tokenExchange = await server.exchangeCode(code, transaction.codeVerifier);
    const { status, members = {} } = tokenExchange;
    if (status !== 200) {
      const description = text(members.error_description) ?? `The token endpoint answered ${status}.`;
      return {
        session: { ...session, tokenExchange },
        problem: new ProtocolProblem(text(members.error) ?? 'invalid_response', description),
      };
    }
    session = { ...withTokens(session, members), tokenExchange };
    const doubt = await doubtAboutIdToken({ ...story, session });
    if (doubt !== undefined) return { session, problem: doubt };
  }
  const accessToken = session.tokens['access-token'];
  if (accessToken !== undefined) session = { ...session, userinfoExchange: await server.userinfo(accessToken) };
  return { session };
}

/** An error response, the response of another server, or no response at all. */
function refusalIn(parameters: URLSearchParams, issuer: string): ProtocolProblem | undefined {
  const error = parameters.get('error');
  if (error !== null) {
    return new ProtocolProblem(error, parameters.get('error_description') ?? 'The authorization server gave no description.');
  }
  if (![null, issuer].includes(parameters.get('iss'))) {
    return new ProtocolProblem('wrong_issuer', 'The response names another server than the request.');
  }
  if (['code', 'access_token', 'id_token'].every((name) => !parameters.has(name))) {
    return new ProtocolProblem('empty_response', 'The response contains no code, no token and no error.');
  }
  return undefined;
}

/** An application must stop at an invalid ID token before it uses anything else. */
async function doubtAboutIdToken(story: Story): Promise<ProtocolProblem | undefined> {
  const token = story.session.tokens['id-token'];
  const failed = token === undefined ? [] : (await checksOf('id-token', token, story)).filter(({ passed }) => !passed);
  if (failed.length === 0) return undefined;
  return new ProtocolProblem(
    'invalid_id_token',
    `The ID token cannot be believed: ${failed.map(({ label }) => english.t(label)).join('; ')}.`,
  );
}

/** The log is in English as well. */
const english = translatorOf(ENGLISH);

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const withoutNull = <T extends string>(values: Record<T, string | null>): Partial<Record<T, string>> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Partial<Record<T, string>>;
