/** The baselines' sign-in page: one form, one password compared with the parameters of Gatehouse, and the interaction is over. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { verify } from '@node-rs/argon2';
import type { Provider } from 'oidc-provider';
import { hashPassword } from '../../src/features/passwords/passwords.service.ts';
import type { Store } from './bare-adapters.ts';
import { loginOf, USERS } from './target.ts';

const MODEL = 'Account';

/** Everybody has the same password, and everybody a hash of his own row. */
export async function enrol({ adapter }: Store, password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  for (let user = 0; user < USERS; user += 1) await adapter(MODEL).upsert(loginOf(user), { passwordHash }, 0);
}

const page = (action: string): string => `<!doctype html><html lang="en"><title>Sign in</title>
<form id="sign-in-form" method="post" action="${action}">
<label for="username">User name</label><input id="username" name="username" type="text" required>
<label for="password">Password</label><input id="password" name="password" type="password" required>
<button type="submit">Sign in</button></form></html>`;

export async function answerSignIn(provider: Provider, { adapter }: Store, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { uid } = await provider.interactionDetails(req, res);
  if (req.method !== 'POST') {
    res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
    return void res.end(page(`/sign-in/${uid}`));
  }
  let body = '';
  for await (const chunk of req) body += chunk;
  const { username, password } = parse(body);
  const login = String(username);
  const account = await adapter(MODEL).find(login);
  if (account === undefined || !(await verify(String(account.passwordHash), String(password)))) {
    return void res.writeHead(401).end('wrong user name or password');
  }
  await provider.interactionFinished(req, res, { login: { accountId: login, amr: ['pwd'] } }, { mergeWithLastSubmission: false });
}
