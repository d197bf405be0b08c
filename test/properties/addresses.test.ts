/** Properties of network addresses and of URIs: which are public, which are one network, which an application may register and a browser be sent to. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { completeSettings, settingProblems } from '../../src/features/applications/application-settings.policy.ts';
import { clientFields, clientId } from '../../src/features/applications/application-settings.service.ts';
import { networkOf } from '../../src/features/sign-in/failure-limits.service.ts';
import { webAddress } from '../../src/pages/hosted/page-models.ts';
import { isLoopbackHost } from '../../src/platform/config/config.ts';
import { isPublicAddress } from '../../src/platform/http/outbound.ts';
import { clientAddress } from '../../src/platform/http/requests.ts';
import { originOf } from '../../src/protocol/servers/application-origins.ts';
import { anyText, endless, tried } from './checking.ts';

/** Not of the public internet: IANA's registries of special-purpose addresses, written down anew, and matched by Node. */
const SPECIAL_4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
const SPECIAL_6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';
const special = new BlockList();
for (const [family, ranges] of [
  ['ipv4', SPECIAL_4],
  ['ipv6', SPECIAL_6],
] as const)
  for (const range of ranges.split(' ')) {
    const [net = '', bits] = range.split('/');
    special.addSubnet(net, Number(bits), family);
  }
const given = new BlockList();
given.addSubnet('2000::', 3, 'ipv6');

/** Addresses within and just outside of those ranges, and any. */
const edges = SPECIAL_4.split(' ').flatMap((range) => {
  const [net = '', bits = ''] = range.split('/');
  const first = net.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return [first - 1, first, first + 2 ** (32 - Number(bits)) - 1, first + 2 ** (32 - Number(bits))];
});
const written4 = (value: number): string => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
const address4 = fc
  .oneof(fc.constantFrom(...edges.filter((value) => value >= 0 && value < 2 ** 32)), fc.nat({ max: 0xffffffff }))
  .map(written4);
const address6 = fc
  .tuple(
    fc.constantFrom(
      '2001:db8',
      '2001:0',
      '2001:2',
      '2002:a00',
      '2a00:1450',
      'fe80:0',
      'fc00:0',
      'ff02:0',
      '64:ff9b',
      '2606:4700',
      '0:0',
      '3fff:fff',
    ),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 6, maxLength: 6 }),
  )
  .map(([head, rest]) => `${head}:${rest.map((part) => part.toString(16)).join(':')}`);

test('an address is public exactly when no registry keeps it for something else (RFC 6890), however it is written', () => {
  fc.assert(
    fc.property(address4, (address) => {
      const expected = !special.check(address, 'ipv4');
      assert.equal(isPublicAddress(address), expected, address);
      assert.equal(isPublicAddress(`::ffff:${address}`), expected, 'mapped');
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const hex = (high: number, low: number) => (high * 256 + low).toString(16);
      assert.equal(isPublicAddress(`::ffff:${hex(a, b)}:${hex(c, d)}`), expected, 'mapped, in hex');
      for (const wrapped of [`64:ff9b::${hex(a, b)}:${hex(c, d)}`, `2002:${hex(a, b)}:${hex(c, d)}::1`, `::${address}`])
        assert.equal(isPublicAddress(wrapped), false, wrapped);
    }),
    tried(500),
  );
  fc.assert(
    fc.property(address6, (address) => {
      const expected = given.check(address, 'ipv6') && !special.check(address, 'ipv6');
      assert.equal(isPublicAddress(address), expected, address);
      assert.equal(isPublicAddress(address.toUpperCase()), expected);
    }),
    tried(500),
  );
  fc.assert(
    fc.property(fc.oneof(anyText, endless), (text) =>
      assert.equal(
        isPublicAddress(text),
        isIP(text) !== 0 && isPublicAddress(new URL(`http://${isIP(text) === 6 ? `[${text}]` : text}`).hostname.replace(/^\[|\]$/g, '')),
      ),
    ),
    tried(),
  );
});

test('one address of IPv4, one /64 of IPv6 (RFC 6177): the same for all within it, another for all outside', () => {
  fc.assert(
    fc.property(address6, address6, fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 }), (one, other, end) => {
      const head = (address: string) =>
        address
          .split(':')
          .slice(0, 4)
          .map((part) => Number.parseInt(part, 16))
          .join(':');
      const neighbour = [...one.split(':').slice(0, 4), ...end.map((part) => part.toString(16))].join(':');
      assert.equal(networkOf(neighbour), networkOf(one));
      const beside = one.split(':').map((part, n) => (n === 3 ? (Number.parseInt(part, 16) ^ 1).toString(16) : part));
      assert.notEqual(networkOf(beside.join(':')), networkOf(one));
      assert.equal(networkOf(one) === networkOf(other), head(one) === head(other));
      assert.equal(networkOf(`${one}%eth0`), networkOf(one), 'a zone is of this machine');
    }),
    tried(),
  );
  fc.assert(
    fc.property(address4, address4, (one, other) => {
      assert.equal(networkOf(`::ffff:${one}`), networkOf(one));
      assert.equal(networkOf(one) === networkOf(other), one === other);
    }),
    tried(),
  );
  fc.assert(
    fc.property(fc.oneof(anyText, endless), (text) => assert.equal(typeof networkOf(text), 'string')),
    tried(),
  );
});

test('behind proxies the address is the one that the outermost trusted one saw: whatever the sender wrote before it counts for nothing', () => {
  const header = fc.array(
    fc.oneof(
      address4,
      address6,
      anyText.map((text) => text.replaceAll(',', '').trim()).filter((text) => text !== ''),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(header, fc.array(fc.oneof(address4, address6), { minLength: 1, maxLength: 4 }), address4, (forged, seen, direct) => {
      const req = (names: readonly string[]) =>
        ({ headers: { 'x-forwarded-for': names.join(', ') }, socket: { remoteAddress: direct } }) as unknown as IncomingMessage;
      const proxies = seen.length;
      assert.equal(clientAddress(req([...forged, ...seen]), proxies), seen[0]);
      assert.equal(clientAddress(req([...forged, ...seen]), 0), direct);
      const [first = '', ...rest] = seen;
      const withPort = isIP(first) === 6 ? `[${first}]:4711` : `${first}:4711`;
      assert.equal(clientAddress(req([...forged, withPort, ...rest]), proxies), first);
    }),
    tried(),
  );
});

const loopback = fc.constantFrom('localhost', 'a.localhost', '127.0.0.1', '127.8.8.8', '[::1]', 'LOCALHOST');
const host = fc.oneof(
  loopback,
  fc.domain(),
  fc.ipV4(),
  fc.constantFrom('localhost.example', '127.0.0.1.example', '0.0.0.0', '[::]', '1.2.3.4'),
);
const scheme = fc.constantFrom(
  'https:',
  'http:',
  'HTTPS:',
  'com.example.app:',
  'javascript:',
  'data:',
  'file:',
  'vbscript:',
  'blob:',
  'about:',
  '',
);
const uri = fc.oneof(
  fc
    .tuple(
      scheme,
      fc.constantFrom('//', '/', '', '///', '\\\\'),
      fc.constantFrom('', '', 'user@', 'user:secret@'),
      host,
      fc.constantFrom('', ':8080', ':99999'),
      fc.oneof(fc.webPath(), anyText),
      fc.constantFrom('', '', '?q=1', '#f', '?#'),
    )
    .map((parts) => parts.join('')),
  anyText,
  endless,
);
const redirects = clientFields.redirect_uris;

test('what an application may register is one absolute URI that runs nothing, tells no secret in the clear and hides no host (RFC 6749 section 3.1.2)', () => {
  fc.assert(
    fc.property(uri, (text) => {
      const read = redirects.safeParse([text]);
      if (!read.success) return;
      const [kept = ''] = read.data ?? [];
      assert.equal(kept, text.trim());
      assert.deepEqual(redirects.parse([kept]), [kept]);
      const url = new URL(kept);
      assert.ok(!kept.includes('#') && url.username === '' && url.password === '');
      assert.ok(!['javascript:', 'data:', 'file:', 'vbscript:', 'blob:', 'about:'].includes(url.protocol));
      assert.ok(url.protocol !== 'http:' || isLoopbackHost(url.hostname));
      assert.ok(!/[^\x21-\x7e]/.test(kept) && !/["<>\\^`{|}]/.test(kept), 'fits into a header as it is');
      const web = /^https?:/i.test(kept);
      // A web application has web addresses alone.
      const given_ = { redirect_uris: [kept], application_type: 'web' as const };
      assert.equal(settingProblems(completeSettings(given_), false).length === 0, web);
      assert.equal(originOf(kept), web ? url.origin : url.protocol);
    }),
    tried(1000),
  );
});

test('a page links to web addresses only', () => {
  fc.assert(
    fc.property(uri, (text) => {
      const address = webAddress(text);
      if (address === undefined) return;
      assert.match(new URL(address, 'https://page.example/').protocol, /^https?:$/);
    }),
    tried(500),
  );
});

test('settings that were completed are complete', () => {
  const types = fc.constantFrom('web' as const, 'native' as const, 'browser' as const, 'service' as const);
  const grants = fc.uniqueArray(
    fc.constantFrom(
      'authorization_code' as const,
      'implicit' as const,
      'password' as const,
      'client_credentials' as const,
      'refresh_token' as const,
    ),
  );
  const responses = fc.uniqueArray(fc.constantFrom('code', 'token', 'id_token', 'code id_token', 'id_token token'));
  const option = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  fc.assert(
    fc.property(option(types), option(grants), option(responses), (application_type, grant_types, response_types) => {
      const once = completeSettings({ application_type, grant_types, response_types });
      assert.deepEqual(completeSettings(once), once);
      const words = new Set(once.response_types.flatMap((type) => type.split(' ')));
      if (words.has('code')) assert.ok(once.grant_types.includes('authorization_code'));
      if (words.has('token') || words.has('id_token')) assert.ok(once.grant_types.includes('implicit'));
      if (once.token_endpoint_auth_method === 'none') assert.ok(once.pkce_required);
    }),
    tried(500),
  );
});

test('response types are the same in whatever order their words come', () => {
  const type = fc.shuffledSubarray(['code', 'token', 'id_token'], { minLength: 1 });
  fc.assert(
    fc.property(type, fc.constantFrom(' ', '  '), (words, space) => {
      const [read = ''] = clientFields.response_types.parse([words.join(space)]) ?? [];
      assert.equal(read, words.toSorted().join(' '));
    }),
    tried(),
  );
});

test('a client_id is itself in a path, a query and a header', () => {
  fc.assert(
    fc.property(fc.oneof(fc.stringMatching(/^[A-Za-z0-9._~-]{1,100}$/), anyText), (text) => {
      if (!clientId.safeParse(text).success) return;
      assert.equal(encodeURIComponent(text), text);
      assert.equal(new URL(`https://host.example/apps/${text}`).pathname, `/apps/${text}`);
    }),
    tried(500),
  );
});

test('this machine is what its names say, and nothing else is', () => {
  fc.assert(
    fc.property(fc.oneof(host, anyText, endless), (text) => {
      if (!isLoopbackHost(text)) return;
      const bare = text.replace(/^\[|\]$/g, '').toLowerCase();
      assert.ok(bare === '::1' || bare === 'localhost' || bare.endsWith('.localhost') || (isIP(bare) === 4 && bare.startsWith('127.')));
    }),
    tried(500),
  );
});
