/** Properties of what reads requests, settings and files: it reads back what was written, and refuses all else by its own error, in bounded time. */

import assert from 'node:assert/strict';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import Koa from 'koa';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { moment, wholeNumber, writeTime } from '../../src/api/fields.ts';
import { parseBody } from '../../src/api/validation.ts';
import { serverIdProblem } from '../../src/features/authorization-servers/server-id.policy.ts';
import { areScopes } from '../../src/features/identity-providers/upstream-request.policy.ts';
import {
  randomOf,
  stateFor,
  transactionAddress,
  transactionPath,
  type UpstreamPlace,
} from '../../src/features/identity-providers/upstream-transaction.hosted.ts';
import { spaceSeparated } from '../../src/features/scopes/granted-scopes.policy.ts';
import { browserName } from '../../src/features/sessions/browser-name.policy.ts';
import { ConfigurationError, loadConfig } from '../../src/platform/config/config.ts';
import { randomToken } from '../../src/platform/crypto/secrets.ts';
import { ApiError } from '../../src/platform/errors/errors.ts';
import { readForm } from '../../src/platform/http/forms.ts';
import { requestId } from '../../src/platform/http/requests.ts';
import { ENGLISH, LANGUAGES } from '../../src/platform/i18n/messages.ts';
import { languageOfProfile, negotiateLanguage } from '../../src/platform/i18n/page-language.ts';
import { parse } from '../../src/platform/validation/parsing.ts';
import { isPrintable, text as line } from '../../src/platform/validation/text.ts';
import { requestedAcr } from '../../src/protocol/authorize/acr.ts';
import { checkClaims } from '../../src/protocol/authorize/claims.ts';
import { checkNonce, checkState, isReturnable } from '../../src/protocol/authorize/parameters.ts';
import { literalSecret, prepareBasic } from '../../src/protocol/client-authentication/client-authentication.ts';
import { readText } from '../../src/protocol/servers/form.ts';
import { anyText, endless, of, tried } from './checking.ts';

/** Has it no half of a surrogate pair? */
const encodable = (value: string): boolean => Buffer.from(value).toString() === value;
const input = fc.oneof({ weight: 10, arbitrary: anyText }, { weight: 1, arbitrary: endless });

test('a moment is read as it was written, in whatever zone, and nothing else is one (RFC 3339)', () => {
  const at = fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true });
  fc.assert(
    fc.property(at, fc.integer({ min: -23 * 60, max: 23 * 60 }), (date, zone) => {
      assert.deepEqual(moment.parse(writeTime(date)), date);
      const sign = zone < 0 ? '-' : '+';
      const [hours, minutes] = [Math.floor(Math.abs(zone) / 60), Math.abs(zone) % 60].map((part) => String(part).padStart(2, '0'));
      const local = new Date(date.getTime() + zone * 60_000);
      if (local.getUTCFullYear() < 1 || local.getUTCFullYear() > 9999) return;
      assert.deepEqual(moment.parse(local.toISOString().replace('Z', `${sign}${hours}:${minutes}`)), date);
    }),
    tried(),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.constantFrom('9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00+01:00', '0000-01-01T00:00:00Z'),
        input,
        fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/),
      ),
      (value) => {
        const read = moment.safeParse(value);
        if (read.success) assert.deepEqual(moment.parse(writeTime(read.data)), read.data);
      },
    ),
    tried(500),
  );
});

test('numbers of a query, cursors among them, are digits alone, within their bounds', () => {
  const limit = wholeNumber(1, 200);
  fc.assert(
    fc.property(
      fc.oneof(
        input,
        fc.integer().map(String),
        fc.double().map(String),
        fc.nat({ max: 250 }).map((n) => String(n).padStart(4, '0')),
      ),
      (value) => {
        const read = limit.safeParse(value);
        assert.equal(read.success, /^[0-9]{1,15}$/.test(value) && Number(value) >= 1 && Number(value) <= 200);
        if (read.success) assert.equal(read.data, Number(value));
      },
    ),
    tried(500),
  );
});

test('a line of text is trimmed once, printable, and within its bounds', () => {
  const schema = line({ least: 1, most: 20 });
  fc.assert(
    fc.property(input, (value) => {
      const read = schema.safeParse(value);
      const trimmed = value.trim();
      assert.equal(read.success, trimmed.length >= 1 && trimmed.length <= 20 && isPrintable(trimmed));
      if (read.success) assert.deepEqual([read.data, schema.parse(read.data)], [trimmed, trimmed]);
      assert.equal(isPrintable(value), encodable(value) && ![...value].some((one) => one < ' ' || (one >= '\x7f' && one <= '\x9f')));
    }),
    tried(500),
  );
});

test('a body is taken, or refused by causes that name its fields; what the answer carries may come along', () => {
  const schema = z.strictObject({ name: line(), count: z.int().optional(), inner: z.strictObject({ flag: z.boolean() }).optional() });
  const answer = z.object({ id: z.string(), name: z.string(), inner: z.object({ flag: z.boolean(), since: z.string() }) });
  const good = of({
    name: fc.constantFrom('a', 'b'),
    inner: fc.constantFrom(undefined, { flag: true }, { flag: true, since: 'x' }),
    id: fc.constantFrom(undefined, 'x'),
  });
  fc.assert(
    fc.property(good, (body) => {
      const { id: _, ...expected } = structuredClone(body);
      const { since: __, ...inner } = { since: '', ...expected.inner };
      const read = parseBody(schema, answer, JSON.parse(JSON.stringify(body)));
      assert.deepEqual(read, JSON.parse(JSON.stringify({ ...expected, ...(expected.inner && { inner }) })));
    }),
    tried(),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue({ maxDepth: 4 }),
        fc.dictionary(fc.constantFrom('name', 'count', 'inner', 'id', '__proto__', 'constructor'), fc.jsonValue()),
        fc.anything(),
      ),
      (body) => {
        for (const read of [() => parseBody(schema, answer, body), () => parse(schema, body)]) {
          try {
            assert.equal(typeof read().name, 'string');
          } catch (error) {
            assert.ok(error instanceof ApiError, String(error));
            assert.ok(error.status === 400 && error.causes.length > 0 && error.causes.length <= 50);
          }
        }
        assert.equal(Object.getOwnPropertyNames(Object.prototype).includes('flag'), false);
      },
    ),
    tried(500),
  );
});

test('the environment is read whole or refused by sentences, none of which tells a secret', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
  const option = (...values: string[]) => fc.constantFrom(undefined, ...values);
  const good = of({
    PORT: option('1', '65535'),
    BASE_URL: option('https://id.example', 'http://id.example', 'http://localhost:1', 'http://127.0.0.1/'),
    DATABASE_URL: option('postgres://db/x'),
    TRUST_PROXY: option('off', '2'),
    ALLOW_INSECURE_HTTP: option('true', 'off', '1'),
    MAIL_FROM: option('Name <a@b.example>'),
    SMTP_URL: option('smtp://mail'),
    LOG_LEVEL: option('silent'),
  });
  const bad = fc.dictionary(
    fc.constantFrom('PORT', 'BASE_URL', 'DATABASE_DIRECT_URL', 'WORKERS', 'MAIL_FROM', 'ADMIN_USERNAME', 'HOST'),
    input,
    { maxKeys: 2 },
  );
  const environment = fc.oneof(
    good,
    fc.tuple(good, bad).map(([one, other]) => ({ ...one, ...other })),
  );
  fc.assert(
    fc.property(environment, fc.option(secret, { nil: undefined }), secret, fc.boolean(), (env, key, password, isBroken) => {
      const secrets = { SECRET_KEY: isBroken && key !== undefined ? `${key}!` : key, ADMIN_PASSWORD: password };
      try {
        const config = loadConfig({ ...env, ...secrets });
        assert.ok(Object.isFrozen(config) && config.port >= 1 && config.port <= 65_535 && config.workers >= 1);
        assert.equal(new URL(config.baseUrl).origin, config.baseUrl);
        assert.ok(config.secure || config.loopback || config.allowInsecureHttp);
        assert.deepEqual(config.secretKeys?.map((one) => one.toString('base64url')) ?? [undefined], [
          key && Buffer.from(key, 'base64url').toString('base64url'),
        ]);
        assert.equal(config.admin.password, password);
        assert.deepEqual(loadConfig({ ...env, ...secrets }), config);
      } catch (error) {
        assert.ok(error instanceof ConfigurationError, String(error));
        assert.ok(error.problems.length > 0);
        for (const told of [key, password]) assert.ok(told === undefined || !error.message.includes(told));
      }
    }),
    tried(500),
  );
});

test('scopes, states and ids are of their alphabets (RFC 6749 sections 3.3 and 10.12, appendix A)', () => {
  fc.assert(
    fc.property(
      input,
      fc.array(fc.stringMatching(/^[!#-[\]-~]{1,8}$/)),
      fc.constantFrom('service' as const, 'openid' as const),
      (value, scopes, profile) => {
        assert.deepEqual(spaceSeparated(scopes.join(' ')), scopes);
        assert.ok(spaceSeparated(value).every((word) => word !== '' && !word.includes(' ')));
        assert.equal(spaceSeparated(value).join(' '), value.split(' ').filter(Boolean).join(' '));
        assert.ok(areScopes(scopes.join(' ')));
        if (areScopes(value)) assert.ok(!/[^\x20-\x7e]|["\\]/.test(value));
        const isAllowed = !refused(() => checkState(value, profile));
        if (isAllowed && value !== '') assert.ok(isReturnable(value));
        if (isAllowed && profile === 'service') assert.match(value, /^[A-Za-z0-9,._-]+$/);
        assert.equal(isReturnable(value), value !== '' && !/[^\x20-\x7e]/.test(value));
        if (profile === 'openid') assert.equal(isAllowed, value === '' || isReturnable(value));
        assert.ok(refused(() => checkState(undefined, 'service')) && !refused(() => checkState(undefined, 'openid')));
        if (serverIdProblem(value) === undefined)
          assert.equal(new URL(`https://id.example/oauth/v1/${value}`).pathname, `/oauth/v1/${value}`);
      },
    ),
    tried(500),
  );
});

/** @returns whether it was, as OAuth refuses: any other error is a fault */
function refused(act: () => void): boolean {
  try {
    act();
    return false;
  } catch (error) {
    assert.ok(error instanceof errors.OIDCProviderError, String(error));
    return true;
  }
}

test('a nonce is missed where a token comes from the authorize endpoint, in whatever order its types are named', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(['code', 'token', 'id_token']), fc.constantFrom('', undefined, 'n'), (types, nonce) => {
      const delivers = types.includes('token') || types.includes('id_token');
      assert.equal(
        refused(() => checkNonce(nonce, types.join(' '), 'service')),
        delivers && !nonce,
      );
      assert.equal(
        refused(() => checkNonce(nonce, types.join(' '), 'openid')),
        false,
      );
    }),
    tried(100),
  );
});

test('the claims parameter is read or refused, whatever stands in it (OpenID Connect Core section 5.5)', () => {
  const acr = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.record({ essential: fc.boolean(), value: fc.jsonValue(), values: fc.jsonValue() }, { requiredKeys: [] }),
  );
  const members = fc.dictionary(fc.constantFrom('email', 'sub'), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
  // That both are objects is oidc-provider's to see.
  const parameter = fc.record(
    { userinfo: members, id_token: fc.tuple(members, acr).map(([others, one]) => ({ ...others, acr: one })) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(parameter, fc.constantFrom(undefined, 'urn:okta:loa:2fa:any urn:okta:loa:1fa:any'), (claims, acrValues) => {
      const asked = [claims.userinfo, claims.id_token].flatMap((names) => Object.values(names ?? {}));
      const isFormed = asked.every((one) => one === null || (typeof one === 'object' && !Array.isArray(one)));
      const values = (claims.id_token?.acr as { values?: unknown } | null | undefined)?.values;
      const isRefused = refused(() => checkClaims(claims as Parameters<typeof checkClaims>[0]));
      if (!isFormed || (values !== undefined && !Array.isArray(values))) assert.ok(isRefused);
      if (isRefused) return;
      const requested = requestedAcr({ claims: JSON.stringify(claims), acr_values: acrValues });
      assert.ok(Array.isArray(requested) && requested.every((one) => typeof one === 'string'));
    }),
    tried(500),
  );
});

test('a Basic header is read in both ways; without a secret it gets one that nobody has, and no other header changes (RFC 6749 section 2.3.1)', () => {
  const header = fc.oneof(
    anyText,
    fc
      .tuple(
        fc.constantFrom('Basic ', 'basic ', 'BASIC  ', 'Bearer '),
        fc.oneof(
          anyText,
          fc
            .tuple(anyText, fc.constantFrom(':', ':', '', ':secret', 'a:b:', ':a+b', ':a%2Bb', ':100%', '%:x'))
            .map((parts) => Buffer.from(parts.join('')).toString('base64')),
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(header, (authorization) => {
      const req = { headers: { authorization } } as unknown as KoaContextWithOIDC['req'];
      prepareBasic({ req });
      const after = String(req.headers.authorization);
      const decoded = (value: string) => Buffer.from(value.slice('basic '.length), 'base64').toString('utf8');
      const canonical = Buffer.from(decoded(authorization)).toString('base64');
      const isBasic = /^basic \S+$/i.test(authorization) && authorization.slice('basic '.length) === canonical;
      const [, id, secret] = (isBasic && /^([^:]+):(.*)$/s.exec(decoded(authorization))) || [];
      if (id === undefined || secret === undefined) {
        assert.ok(after === authorization || !isBasic);
        assert.equal(literalSecret(req), undefined);
        return;
      }
      const [idAfter = '', secretAfter = ''] = /^([^:]+):(.*)$/s.exec(decoded(after))?.slice(1).map(decodeURIComponent) ?? [];
      for (const [was, is] of [
        [id, idAfter],
        [secret, secretAfter],
      ] as const) {
        if (was === '') assert.equal(is.length, 43, 'nobody has it');
        else assert.ok(is === was || is === decodeURIComponent(was), `${was} ${is}`);
      }
      if (secret !== '' && secret !== secretAfter) assert.equal(literalSecret(req), secret);
    }),
    tried(500),
  );
});

test('languages: one of those that are spoken here, the first wish that can be met, and a user’s profile in either way of writing', () => {
  const tag = fc.oneof(fc.constantFrom('de', 'DE-at', 'zh-TW', 'es', 'en-GB', 'fr', '', '*', 'de_AT', 'x'), anyText);
  fc.assert(
    fc.property(
      fc.option(tag, { nil: undefined }),
      fc.array(tag).map((tags) => tags.join(' ')),
      fc.array(tag),
      (chosen, uiLocales, accepted) => {
        const known = new Map(LANGUAGES.map((language) => [language.lang.toLowerCase().split('-')[0], language]));
        const wishes = [...(chosen === undefined ? [] : [chosen]), ...uiLocales.split(' '), ...accepted];
        const expected = wishes.map((wish) => known.get(wish.toLowerCase().split('-')[0])).find((one) => one !== undefined) ?? ENGLISH;
        assert.equal(negotiateLanguage({ chosen, uiLocales, accepted }), expected);
      },
    ),
    tried(500),
  );
  for (const locale of ['de_AT', 'de-AT', 'de']) assert.equal(languageOfProfile({ locale })?.lang, 'de');
});

test('the state that travels through a provider leads back to its place, and nothing else leads anywhere (RFC 9700 section 4.7)', () => {
  const place: fc.Arbitrary<UpstreamPlace> = fc.oneof(
    fc.constantFrom('standalone' as const, 'account' as const),
    of({
      serverId: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/),
      uid: fc.stringMatching(/^[A-Za-z0-9_-]{21}$/),
      application: of({ id: fc.stringMatching(/^[A-Za-z0-9._~-]{1,100}$/), label: fc.constant('x') }),
      redirectOrigins: fc.constant([]),
    }),
  );
  fc.assert(
    fc.property(place, (where) => {
      const random = randomToken();
      const state = stateFor(random, where);
      const address = transactionAddress(state);
      assert.equal(randomOf(state), random);
      assert.ok(address?.path === `${transactionPath(where)}/upstream` && /^[A-Za-z0-9._-]+$/.test(state));
      assert.equal(address.query.get('application'), typeof where === 'string' ? null : where.application.id);
    }),
    tried(),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        input,
        fc.tuple(fc.stringMatching(/^[A-Za-z0-9_-]{43}$/), input).map((parts) => parts.join('.')),
      ),
      (state) => {
        const address = transactionAddress(state);
        if (address !== undefined)
          assert.match(
            new URL(address.path, 'https://id.example').href,
            /^https:\/\/id\.example\/(signin|account\/security|interaction\/[a-z0-9_-]+\/[\w-]+)\/upstream$/,
          );
      },
    ),
    tried(),
  );
});

test('a form is read as it was written, names and values of any kind (WHATWG URL section 5), and not beyond its limit', async () => {
  const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom('__proto__', 'a[b]', 'a'), anyText), anyText), { maxLength: 6 });
  const request = (body: Buffer) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length) };
    const stream = Readable.from([body.subarray(0, 3), body.subarray(3)]);
    return Object.assign(stream, { headers, method: 'POST', url: '/' }) as unknown as IncomingMessage;
  };
  const koa = new Koa();
  await fc.assert(
    fc.asyncProperty(pairs, fc.nat({ max: 300 }), async (fields, limit) => {
      const form = new URLSearchParams(fields);
      const body = Buffer.from(form.toString());
      assert.equal(await readText(request(body), limit), body.length > limit ? undefined : form.toString());
      const req = request(body);
      assert.deepEqual([...(await readForm(koa.createContext(req, new ServerResponse(req))))], [...form]);
    }),
    tried(100),
  );
});

test('the id of a request is the sender’s where it is a plain one, else our own; a browser’s name is never its own words', () => {
  fc.assert(
    fc.property(input, (value) => {
      const req = { headers: { 'x-request-id': value } } as unknown as Parameters<typeof requestId>[0];
      const id = requestId(req);
      assert.match(id, /^[A-Za-z0-9._-]{1,64}$/);
      assert.equal(requestId(req), id);
      const name = browserName(value);
      assert.ok(name === undefined || /^[A-Za-z ]+(, [A-Za-z]+)?$/.test(name));
    }),
    tried(),
  );
});
