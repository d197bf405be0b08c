/** Provisioning into SCIM servers that others wrote: scim2-server from PyPI, and scimmy-routers from npm. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { provisioningStory } from '../support/provisioning.ts';
import { folderWith, npmInstall, pipInstall, startApplication } from './foreign/setting.ts';

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

/** As its documentation begins, with resources in memory. */
const SCIMMY = `import { randomUUID } from 'node:crypto';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

const missing = () => new SCIMMY.Types.Error(404, null, 'not here');

function keep(type, name, extensions) {
  const kept = new Map();
  SCIMMY.Resources.declare(type, {
    extensions,
    ingress(resource, data) {
      if (resource.id !== undefined && !kept.has(resource.id)) throw missing();
      const id = resource.id ?? randomUUID();
      const given = JSON.parse(JSON.stringify(data));
      const isTaken = [...kept.values()].some((one) => one.id !== id && one[name].toLowerCase() === given[name].toLowerCase());
      if (isTaken) throw new SCIMMY.Types.Error(409, 'uniqueness', 'the name is taken');
      const now = new Date();
      kept.set(id, { ...given, id, meta: { created: kept.get(id)?.meta.created ?? now, lastModified: now } });
      return kept.get(id);
    },
    egress(resource) {
      const all = [...kept.values()];
      // Its filters compare names with case, which RFC 7643 does not.
      const wanted = resource.filter?.[0]?.[name]?.[1]?.toLowerCase();
      if (wanted !== undefined) return all.filter((one) => one[name].toLowerCase() === wanted);
      if (resource.id === undefined) return resource.filter ? resource.filter.match(all) : all;
      if (!kept.has(resource.id)) throw missing();
      return kept.get(resource.id);
    },
    degress(resource) {
      if (!kept.delete(resource.id)) throw missing();
    },
  });
}

keep(SCIMMY.Resources.User, 'userName', [{ schema: SCIMMY.Schemas.EnterpriseUser, required: false }]);
keep(SCIMMY.Resources.Group, 'displayName', []);
const handler = (request) => {
  if (request.header('Authorization') !== 'Bearer ' + process.env.TOKEN) throw new Error('not with this token');
  return 'gatehouse';
};
express()
  .use('/scim', new SCIMMYRouters({ type: 'bearer', docUri: 'https://scim.example', handler }))
  .listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
`;

test('users and groups are provisioned into scimmy-routers', async (t) => {
  const cwd = folderWith(t, { 'package.json': '{"type": "module"}', 'server.mjs': SCIMMY });
  const missing = await npmInstall(cwd, 'express@5.1.0', 'scimmy@1.3.5', 'scimmy-routers@1.3.2');
  if (missing !== undefined) return t.skip(missing);
  const [port, token] = [await freePort(), randomBytes(16).toString('hex')];
  await startApplication(t, cwd, { PORT: String(port), TOKEN: token }, process.execPath, 'server.mjs');
  await provisioningStory(t, { origin: `http://127.0.0.1:${port}`, path: '/scim', token });
});
