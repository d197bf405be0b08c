/** Tokens that users get by signing in, for targets that make them in no other way. */
import { authorize, codeIn, exchangeForm, signedIn } from './authorization.ts';
import { basic } from './flow.ts';
import { closeConnections, send } from './http.ts';
import { loginOf, type ServerAddress, type Target, type Tokens, USERS } from './target.ts';

/** Calls at once. */
const AT_ONCE = 8;

export async function issuedTokens(target: Target, server: ServerAddress, count: number): Promise<Tokens[]> {
  const tokens = await many(count, (user) => tokensOf(target, server, loginOf(user % USERS)));
  closeConnections();
  return tokens;
}

async function tokensOf(target: Target, server: ServerAddress, login: string): Promise<Tokens> {
  const seat = { server, login, tokens: { accessToken: '', refreshToken: '' } };
  const browser = await signedIn(target, seat);
  const { url } = await authorize(browser, target, seat);
  const answer = await send({ url: new URL(server.opaque.token), authorization: basic(target) }, exchangeForm(codeIn(url)));
  return { accessToken: String(answer.access_token), refreshToken: String(answer.refresh_token) };
}

/** @returns what was made of the numbers from 0, a few at a time */
export async function many<T>(count: number, make: (number: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let first = 0; first < count; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    made.push(...(await Promise.all(numbers.map(make))));
  }
  return made;
}
