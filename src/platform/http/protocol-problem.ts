/**
 * An error between one of the service's own applications and an authorization server, in the protocol's terms (RFC 6749 sections 4.1.2.1 and 5.2).
 */
import * as client from 'openid-client';

export class ProtocolProblem extends Error {
  override readonly name = 'ProtocolProblem';
  constructor(
    readonly code: string,
    readonly description: string,
  ) {
    super(`${code}: ${description}`);
  }
}

/** Runs a protocol step. @throws {ProtocolProblem} instead of openid-client's errors */
export async function inProtocolTerms<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw asProblem(error);
  }
}

function asProblem(error: unknown): unknown {
  if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError) {
    return new ProtocolProblem(error.error, error.error_description ?? 'The authorization server gave no description.');
  }
  if (error instanceof client.WWWAuthenticateChallengeError) {
    const challenge = error.cause[0]?.parameters;
    return new ProtocolProblem(challenge?.error ?? 'unauthorized', challenge?.error_description ?? `The server answered ${error.status}.`);
  }
  // The cause's message is more specific. The cause itself may contain tokens and is not passed on.
  if (error instanceof client.ClientError) {
    return new ProtocolProblem(error.code ?? 'invalid_response', error.cause instanceof Error ? error.cause.message : error.message);
  }
  // fetch reports a network failure as a TypeError with a cause; a TypeError without one is a programming error.
  if (error instanceof TypeError && error.cause !== undefined) {
    return new ProtocolProblem('server_unreachable', 'The authorization server did not answer.');
  }
  return error;
}
