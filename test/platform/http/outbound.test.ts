import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { DEFAULT_MIN_VERSION } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createOutbound, isPublicAddress, LARGEST_RESPONSE, mayConnectTo, OutboundRefused } from '../../../src/platform/http/outbound.ts';
import { listenSecurely } from '../../support/https-host.ts';
import { listen } from '../../support/listen.ts';

const guarded = createOutbound({ allowPrivateNetwork: false });
const open = createOutbound({ allowPrivateNetwork: true });

/** @returns the port of a server that ends with the test, and how often it was asked */
async function serverOf(t: TestContext, answer: RequestListener): Promise<{ port: string; asked: () => number }> {
  let asked = 0;
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    asked += 1;
    answer(req, res);
  });
  return { port: new URL(origin).port, asked: () => asked };
}

const isRefusal = (error: unknown): boolean => {
  for (let it = error; it instanceof Error; it = it.cause) if (it instanceof OutboundRefused) return true;
  throw error;
};

describe('requests to addresses that others choose (SSRF; RFC 7591 section 5)', () => {
  const special = [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.0.9', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1'],
    ...['192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', 'fe80::1', 'fc00::1', 'fd12::1'],
    ...['fec0::1', 'ff02::1', '2001:db8::1', '100::1', '4000::1', '100:0:0:1::1', '::127.0.0.1', '::8.8.8.8', 'nonsense', ''],
  ];
  for (const address of special) {
    it(`takes ${address || 'nothing'} for no public address`, () => assert.equal(isPublicAddress(address), false));
  }
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1']) {
    it(`takes ${address} for a public address`, () => assert.equal(isPublicAddress(address), true));
  }

  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']) {
    it(`never connects to ${address}, by which a cloud tells a machine its secrets`, () => {
      for (const allowPrivateNetwork of [true, false]) assert.equal(mayConnectTo(address, { allowPrivateNetwork }), false);
    });
  }
  it('connects to private addresses where that is allowed', () => {
    assert.deepEqual(
      ['10.1.2.3', '127.0.0.1', 'fd12::1', '1.1.1.1', 'nonsense'].map((address) => mayConnectTo(address, { allowPrivateNetwork: true })),
      [true, true, true, true, false],
    );
  });

  it('asks no loopback address in any notation, and makes no connection', async (t) => {
    const { port, asked } = await serverOf(t, (_req, res) => res.end('secret'));
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0x7f.1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
    ];
    for (const host of [...hosts, '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]', '１２７.0.0.1', 'localhost']) {
      await assert.rejects(guarded(`http://${host}:${port}/`), isRefusal, host);
    }
    assert.equal(asked(), 0);
    assert.equal(await (await open(`http://127.0.0.1:${port}/`)).text(), 'secret');
    assert.equal(asked(), 1);
  });

  it('follows no redirect', async (t) => {
    const target = await serverOf(t, (_req, res) => res.end('secret'));
    const { port } = await serverOf(t, (_req, res) => res.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end());
    await assert.rejects(open(`http://127.0.0.1:${port}/`), isRefusal);
    assert.equal(target.asked(), 0);
  });

  it('reads no more than is allowed, announced or not', async (t) => {
    const endless = await serverOf(t, (_req, res) => {
      const send = (): unknown => res.destroyed || (res.write('x'.repeat(65_536)) ? setImmediate(send) : res.once('drain', send));
      send();
    });
    await assert.rejects(async () => (await open(`http://127.0.0.1:${endless.port}/`)).text());
    const announced = await serverOf(t, (_req, res) => res.end('x'.repeat(LARGEST_RESPONSE + 1)));
    await assert.rejects(async () => (await open(`http://127.0.0.1:${announced.port}/`)).text());
    const largest = await serverOf(t, (_req, res) => res.end('x'.repeat(LARGEST_RESPONSE)));
    assert.equal((await (await open(`http://127.0.0.1:${largest.port}/`)).text()).length, LARGEST_RESPONSE);
  });

  it('takes no packed answer: it could be a thousand times as large', async (t) => {
    let accepted: string | undefined;
    const packed = gzipSync('x'.repeat(10_000_000));
    const { port } = await serverOf(t, (req, res) => {
      accepted = String(req.headers['accept-encoding']);
      res.setHeader('content-encoding', 'gzip').end(packed);
    });
    await assert.rejects(open(`http://127.0.0.1:${port}/`), isRefusal);
    assert.equal(accepted, 'identity');
  });

  it('checks the certificate of the server, and speaks TLS 1.2 or later (RFC 9525; FAPI 2.0 section 5.2.1)', async (t) => {
    const origin = await listenSecurely(t, (_req, res) => res.end('secret'), { isTrusted: false });
    await assert.rejects(open(origin), ({ cause }: Error) => (cause as NodeJS.ErrnoException).code === 'DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.equal(DEFAULT_MIN_VERSION, 'TLSv1.2');
  });

  it('gives up when its caller does, and on schemes that are no web', async (t) => {
    const { port } = await serverOf(t, () => {});
    await assert.rejects(open(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
    for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'ftp://1.1.1.1/']) await assert.rejects(guarded(url), isRefusal);
  });
});
