/**
 * A full disk under the embedded database (issue 12, "Faults"): a small file system of its own as DATA_DIR, filled to the last byte. What needs room is told
 * to come again, the process lives on, and all is well when there is room again. Where nothing can be mounted (no root) this is left out, and said.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { dataDirectory, eventually, freePort, postmasterOf, type RunningService, run, runService } from '../support/process.ts';

/** Room for a new database, its log of 16 MiB pieces, and little else. */
const SIZE = '160m';
const BLOCK = Buffer.alloc(64 * 1024);

function mount(folder: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=711`, 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** A DATA_DIR with a limit; undefined where nothing can be mounted. */
function smallDisk(t: TestContext, size: string): string | undefined {
  // Removed last: what runs there ends first, and what is mounted goes before.
  const folder = dataDirectory(t);
  if (!mount(folder, size)) return undefined;
  afterwards(t, async () => {
    const postmaster = postmasterOf(folder);
    if (postmaster !== undefined) {
      try {
        process.kill(postmaster, 'SIGQUIT');
      } catch {
        // It has ended without tidying up.
      }
    }
    await eventually(() => {
      try {
        execFileSync('umount', [folder], { stdio: 'pipe' });
        return true;
      } catch {
        return false;
      }
    }, 'nobody uses the disk any more');
  });
  return folder;
}

/** Takes what room there is. @returns what gives it back */
function fill(folder: string): () => void {
  const file = path.join(folder, 'filler');
  const handle = openSync(file, 'w');
  for (let block = BLOCK; block.length > 0; ) {
    try {
      writeSync(handle, block);
    } catch {
      block = block.subarray(0, block.length >> 1);
    }
  }
  closeSync(handle);
  return () => rmSync(file);
}

const readiness = async ({ baseUrl }: RunningService) => (await fetch(`${baseUrl}/health/ready`)).status;

const probe = { folder: '', possible: false };
try {
  probe.folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
  probe.possible = mount(probe.folder, '1m');
  if (probe.possible) execFileSync('umount', [probe.folder]);
} finally {
  rmSync(probe.folder, { recursive: true, force: true });
}

if (!probe.possible) console.log('no file system can be mounted here (it needs root): the tests of a full disk are left out');
else {
  test('a full disk under the embedded database: 503 until there is room again, without a restart', async (t) => {
    const DATA_DIR = smallDisk(t, SIZE) ?? assert.fail('mounted a moment ago');
    const service = await runService(t, { DATA_DIR, LOG_LEVEL: 'error' });
    const client = await createClient(service, { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] });
    const kept = await service.createUser();
    const token = () => post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
    assert.equal((await token()).status, 200);

    const giveBack = fill(DATA_DIR);
    const acknowledged: string[] = [];
    const refused = { token: false, user: false };
    const addUser = async () => {
      const login = `user-${randomBytes(6).toString('hex')}`;
      const { status, body } = await service.api('POST', '/users?activate=false', { profile: { login, postalAddress: 'x'.repeat(250) } });
      if (status === 200) return void acknowledged.push(body.id);
      assert.deepEqual([status, body.errorCode], [503, 'E0000009'], JSON.stringify(body));
      refused.user = true;
    };
    const issueToken = async () => {
      const { status, body, headers } = await token();
      if (status === 200) return;
      assert.deepEqual([status, body.error], [503, 'temporarily_unavailable'], JSON.stringify(body));
      assert.match(headers.get('retry-after') ?? '', /^\d+$/);
      refused.token = true;
    };
    await eventually(async () => {
      await Promise.all(Array.from({ length: 10 }, () => Promise.all([addUser(), issueToken()])));
      return refused.user && refused.token;
    }, 'there is no room left for a user, nor for a token');
    assert.equal((await fetch(`${service.baseUrl}/health/live`)).status, 200);
    assert.match(service.output.stdout, /No space left on device/, 'the operator is told why');

    giveBack();
    await eventually(async () => (await token()).status === 200, 'tokens are issued again');
    await eventually(async () => (await readiness(service)) === 200, 'ready');
    for (const id of [kept.id, ...acknowledged]) assert.equal((await service.api('GET', `/users/${id}`)).status, 200, id);
    assert.ok((await service.createUser()).id);
    assert.equal(service.child.exitCode, null);
    assert.equal(await service.stop(), 0);
  });

  test('a start on a full disk ends with one clear line', async (t) => {
    const DATA_DIR = smallDisk(t, '8m') ?? assert.fail('mounted a moment ago');
    const command = run(t, { DATA_DIR, PORT: await freePort(), LOG_LEVEL: 'error' });
    assert.equal(await command.ended, 1);
    assert.match(command.output.stderr, /^[^\n]*No space left on device[^\n]*\n$/);
  });
}
