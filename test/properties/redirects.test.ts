/** Properties of where a browser is sent: to an address that is registered, character by character, and to no other one (RFC 6749 section 3.1.2.3, RFC 9700 section 4.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authorizeUrl, createClient } from '../protocol/servers/relying-party.ts';
import { startService } from '../support/service.ts';
import { anyText, tried } from './checking.ts';

const WEB = [
  'https://app.example/callback',
  'https://app.example/callback?tenant=1',
  'http://localhost:4711/cb',
  'https://app.example/a%2Fb',
];
const NATIVE = ['com.example.app:/callback', 'http://127.0.0.1/cb', 'http://[::1]:4711/cb?x=1', 'https://app.example/native'];

/** The address as it is, or changed as attackers change one, and whoever compares too kindly does not notice. */
const near = (registered: readonly string[]): fc.Arbitrary<string> => {
  const change: fc.Arbitrary<(uri: string) => string> = fc.oneof(
    fc.constant((uri: string) => uri),
    fc
      .tuple(
        fc.nat(),
        fc.oneof(anyText, fc.constantFrom('/', '?', '#', '@', '.', '%', '&', ';', '\\', '/..', '//', '%2f', '%00', '\t', ' ')),
      )
      .map(
        ([at, put]) =>
          (uri: string) =>
            uri.slice(0, at % (uri.length + 1)) + put + uri.slice(at % (uri.length + 1)),
      ),
    fc.nat().map((at) => (uri: string) => uri.slice(0, at % uri.length) + uri.slice((at % uri.length) + 1)),
    fc.nat().map((at) => (uri: string) => uri.replaceAll(/./g, (letter, n) => (n === at % uri.length ? letter.toUpperCase() : letter))),
    fc
      .nat()
      .map(
        (at) => (uri: string) =>
          uri.replaceAll(/[a-z]/g, (letter, n) => (n === at % uri.length ? `%${letter.charCodeAt(0).toString(16)}` : letter)),
      ),
    fc.constantFrom(
      (uri: string) => `${uri}/../callback`,
      (uri: string) => uri.replace('//', '//user@'),
      (uri: string) => uri.replace('.example', '.example.evil.example'),
      (uri: string) => uri.replace('://', '://evil.example\\@'),
      (uri: string) => uri.replace('https', 'http'),
      (uri: string) => uri.replace(/^(https?:\/\/[^/:]+|http:\/\/\[::1\])(:\d+)?/, '$1:8080'),
      (uri: string) => uri.replace('127.0.0.1', '2130706433'),
      (uri: string) => uri.replace('localhost', '127.0.0.1'),
      (uri: string) => uri.replace('app.example', 'APP.example'),
    ),
  );
  return fc.tuple(fc.constantFrom(...registered), change).map(([uri, how]) => how(uri));
};

/** For a native application the port of a loopback address is whichever was free (RFC 8252 section 7.3). */
function isRegistered(uri: string, registered: readonly string[], isNative: boolean): boolean {
  if (registered.includes(uri)) return true;
  const withoutPort = (one: string) => one.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d{1,5}(?=\/)/, '$1');
  return isNative && registered.some((one) => one.startsWith('http://') && withoutPort(one) === withoutPort(uri));
}

test('an authorization request is answered at a registered address, or on a page of our own', async (t) => {
  const service = await startService(t);
  for (const [type, registered] of [
    ['web', WEB],
    ['native', NATIVE],
  ] as const) {
    const { clientId } = await createClient(service, {
      redirect_uris: registered,
      post_logout_redirect_uris: registered,
      application_type: type,
    });
    await fc.assert(
      fc.asyncProperty(near(registered), async (uri) => {
        const asked = authorizeUrl(service, 'default', {
          client_id: clientId,
          redirect_uri: uri,
          prompt: 'none',
          code_challenge: 'x'.repeat(43),
        });
        const { status, headers } = await fetch(asked, { redirect: 'manual' });
        const location = headers.get('location');
        const is = isRegistered(uri, registered, type === 'native');
        assert.deepEqual([status, location !== null], is ? [303, true] : [400, false], `${location}`);
        if (location !== null) assert.ok(location.startsWith(uri), location);
      }),
      tried(150),
    );
  }
});

test('a logout leads to a registered address, or to a page of our own', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { post_logout_redirect_uris: WEB });
  await fc.assert(
    fc.asyncProperty(near(WEB), fc.stringMatching(/^[!-~]{0,20}$/), async (uri, state) => {
      const asked = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: uri, state });
      const { status, headers } = await fetch(`${service.issuer('default')}/logout?${asked}`, { redirect: 'manual' });
      const location = headers.get('location');
      assert.equal(status, WEB.includes(uri) ? 302 : 400);
      if (location === null) return;
      const [to, registered] = [new URL(location), new URL(uri)];
      assert.deepEqual([to.origin, to.pathname, to.searchParams.get('state') ?? ''], [registered.origin, registered.pathname, state]);
    }),
    tried(100),
  );
});
