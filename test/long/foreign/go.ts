/** Programs in Go, and a way for Okta's SDK to the service. */
import type { TestContext } from 'node:test';
import { listen } from '../../support/listen.ts';
import type { Service } from '../../support/service.ts';
import { install, mustRun } from './setting.ts';

/** @returns why the modules are not there; undefined when ./program is built */
export async function build(cwd: string, ...modules: string[]): Promise<string | undefined> {
  const missing = (await install(cwd, 'go', 'mod', 'init', 'client')) ?? (await install(cwd, 'go', 'get', ...modules));
  if (missing === undefined) await mustRun(cwd, {}, 'go', 'build', '-o', 'program', '.');
  return missing;
}

/** Okta's SDK drops the port of the address: a proxy that leads to the service, whatever it is asked for. @returns its address */
export const forwardTo = (t: TestContext, service: Service): Promise<string> =>
  listen(t, 'localhost', async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(req.url ?? '/', 'http://gatehouse.invalid');
    const { host: _, 'proxy-connection': __, connection: ___, ...headers } = req.headers;
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(service.baseUrl + pathname + search, {
      method: req.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...body,
    });
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(Buffer.from(await answer.arrayBuffer()));
  });
