/** A service of a test's own behind a door that may change its answers on the way out: what a service would be that breaks one rule. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { TestContext } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { type Command, runCommand } from '../support/process.ts';
import { API_TOKEN, type Service, startService } from '../support/service.ts';

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Changes an answer in place, or lets it be. */
export type Alter = (asked: Asked, answered: Answered) => void;

export interface AlteredService extends Service {
  /** From now on. */
  alter(alter: Alter): void;
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export async function startAltered(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<AlteredService> {
  let alter: Alter = () => {};
  let target = '';
  const door = createServer(async (incoming, outgoing) => {
    const sent = await textOf(incoming);
    const url = new URL(incoming.url ?? '/', target);
    const { method = 'GET', headers } = incoming;
    const forwarded = request(url, { method, headers, agent: false }).end(sent);
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
    const answered: Answered = { status: reply.statusCode ?? 500, headers: { ...reply.headers }, text: await textOf(reply) };
    for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive']) delete answered.headers[name];
    alter({ method, url, headers, form: new URLSearchParams(sent) }, answered);
    for (const [name, value] of Object.entries(answered.headers)) if (value !== undefined) outgoing.setHeader(name, value);
    outgoing.writeHead(answered.status).end(answered.text);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  afterwards(t, () => {
    door.close();
    door.closeAllConnections();
  });
  const { port } = door.address() as { port: number };
  const service = await startService(t, { env: { ...env, BASE_URL: `http://localhost:${port}` } });
  target = service.listensAt;
  return {
    ...service,
    alter(next) {
      alter = next;
    },
  };
}

/** Runs the doctor against a service, as somebody far from it does. */
export const doctor = (t: TestContext, service: Service, ...args: string[]): Command =>
  runCommand(t, 'doctor', { GATEHOUSE_TOKEN: API_TOKEN }, '--url', service.baseUrl, ...args);

/** The rules by their outcome. */
export function outcomes(stdout: string): Record<'ok' | 'FAIL' | 'skip', string[]> {
  const of = (mark: string) => [...stdout.matchAll(new RegExp(`^${mark} +([\\w.-]+): `, 'gm'))].map(([, id = '']) => id);
  return { ok: of('ok'), FAIL: of('FAIL'), skip: of('skip') };
}
