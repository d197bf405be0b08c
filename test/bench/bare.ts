/** The baseline's process, started and stopped. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CLIENT, end, freePort, printed, type RunningTarget, type Tokens } from './target.ts';

const ENTRY = fileURLToPath(new URL('bare-provider.js', import.meta.url));

export async function startBareProvider(): Promise<RunningTarget> {
  const [opaque, jwt] = [await freePort(), await freePort()];
  // Its warnings are about what a product would have to set.
  const child = spawn(process.execPath, [ENTRY, String(opaque), String(jwt)], { stdio: ['ignore', 'pipe', 'ignore'] });
  await printed(child, /is ready/);
  const target = {
    name: 'bare',
    pid: child.pid ?? 0,
    opaque: `http://127.0.0.1:${opaque}`,
    jwt: `http://127.0.0.1:${jwt}`,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
  };
  return {
    target,
    async issueTokens(count) {
      const response = await fetch(`${target.opaque}/bench/tokens?count=${count}`, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as Tokens[];
    },
    stop: () => end(child),
  };
}
