/** Provisioning into a SCIM server that others wrote: scim2-server from PyPI. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { provisioningStory } from '../support/provisioning.ts';
import { folderWith, pipInstall, startApplication } from './foreign/setting.ts';

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

test('users and groups are provisioned into scim2-server', async (t) => {
  const cwd = folderWith(t, {});
  const { python, missing } = await pipInstall(cwd, 'scim2-server==0.8.3');
  if (missing !== undefined) return t.skip(missing);
  const [port, token] = [await freePort(), randomBytes(16).toString('hex')];
  const command = python.replace(/python$/, 'scim2-server');
  await startApplication(t, cwd, { PYTHONUNBUFFERED: '1' }, command, '--bearer-token', token, '--port', String(port));
  await provisioningStory(t, { origin: `http://127.0.0.1:${port}`, path: '/v2', token });
});
