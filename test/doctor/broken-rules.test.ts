/** A service that breaks rules: the doctor's line of each broken one says FAIL, and no other line does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Alter, type Asked, doctor, outcomes, startAltered } from './altered-service.ts';

const CALLBACK = 'https://doctor.invalid/callback';

const isAt = ({ url }: Asked, endpoint: string): boolean => url.pathname.startsWith('/oauth/v1') && url.pathname.endsWith(`/${endpoint}`);
const isAsked = ({ url }: Asked, name: string, value: string): boolean => url.searchParams.get(name) === value;

function change(answered: { text: string }, how: (body: Record<string, unknown>) => void): void {
  const body = JSON.parse(answered.text) as Record<string, unknown>;
  how(body);
  answered.text = JSON.stringify(body);
}

/** With the signature of what it said before. */
function withOtherSubject(jwt: string): string {
  const [header, payload = '', signature] = jwt.split('.');
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'usr_other' };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

/** Revoked tokens stay active. */
const staysActive: Alter = (() => {
  const revoked = new Set<string>();
  return (asked, answered) => {
    const token = asked.form.get('token') ?? '';
    if (isAt(asked, 'revoke') && answered.status === 200) revoked.add(token);
    if (isAt(asked, 'introspect') && token.length > 20 && revoked.has(token) && answered.text === '{"active":false}')
      answered.text = '{"active":true}';
  };
})();

/** The rules, how each is broken, and what its line says. */
const BROKEN: Readonly<Record<string, { readonly alter: Alter; readonly says: RegExp }>> = {
  'standards.no-store': {
    alter: (asked, answered) => {
      if (isAt(asked, 'token')) answered.headers['cache-control'] = 'public, max-age=60';
    },
    says: /Cache-Control must be no-store/,
  },
  'standards.signed-introspection': {
    alter: (asked, answered) => {
      const isSigned = answered.headers['content-type']?.toString().startsWith('application/token-introspection+jwt');
      if (isAt(asked, 'introspect') && isSigned) answered.headers['content-type'] = 'application/json';
    },
    says: /Content-Type must be "application\/token-introspection\+jwt", is "application\/json"/,
  },
  'standards.signed-userinfo': {
    alter: (asked, answered) => {
      if (isAt(asked, 'userinfo') && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(answered.text)) answered.text = withOtherSubject(answered.text);
    },
    says: /the signed userinfo must be valid: signature verification failed/,
  },
  'standards.encrypted': {
    alter: (asked, answered) => {
      if (isAt(asked, 'userinfo') && answered.text.split('.').length === 5) answered.text = answered.text.replace(/[^.]+$/, 'A'.repeat(22));
    },
    says: /userinfo must be encrypted to the key of the application: decryption operation failed/,
  },
  'standards.step-up': {
    alter: (asked, answered) => {
      if (!isAt(asked, 'introspect') || !answered.text.startsWith('{"active":true')) return;
      change(answered, (body) => {
        delete body.acr;
      });
    },
    says: /types of acr and auth_time must be "string number", is "undefined number"/,
  },
  'standards.pairwise': {
    alter: (asked, answered) => {
      if (isAt(asked, 'userinfo') && answered.text.includes('"sub":"pw:'))
        change(answered, (body) => Object.assign(body, { sub: 'pw:other' }));
    },
    says: /sub of userinfo must be "pw:[^"]+", is "pw:other"/,
  },
  'standards.metadata': {
    alter: (asked, answered) => {
      if (!asked.url.pathname.startsWith('/.well-known/oauth-authorization-server/')) return;
      change(answered, (body) => {
        body.issuer = 'https://other.doctor.invalid';
      });
    },
    says: /issuer in oauth-authorization-server must be .*, is "https:\/\/other\.doctor\.invalid"/,
  },
  'standards.resource': {
    alter: (asked, answered) => {
      if (!isAt(asked, 'authorize') || !isAsked(asked, 'resource', 'https://unknown.doctor.invalid')) return;
      Object.assign(answered, { status: 302, headers: { location: `${CALLBACK}?code=x&state=some-state` } });
    },
    says: /error of an unknown resource must be "invalid_target", is absent/,
  },
  'standards.authorization-details': {
    alter: (asked, answered) => {
      if (isAt(asked, 'introspect')) answered.text = answered.text.replace('"of":"all"', '"of":"none"');
    },
    says: /authorization_details must be .*all.*, is .*none/,
  },
  'authorize.redirect_uri': {
    alter: (asked, answered) => {
      if (!isAsked(asked, 'redirect_uri', 'https://elsewhere.invalid/callback')) return;
      Object.assign(answered, { status: 302, headers: { location: 'https://elsewhere.invalid/callback?code=x&state=some-state' } });
    },
    says: /redirect_uri is not registered — sent GET .* — received 302 to https:\/\/elsewhere\.invalid\/callback\?code=…&state=some-state/,
  },
  'authorize.state': {
    alter: (asked, answered) => {
      const { searchParams: query } = asked.url;
      // A pushed request has its state elsewhere.
      if (!isAt(asked, 'authorize') || query.has('state') || query.has('request_uri')) return;
      Object.assign(answered, { status: 302, headers: { location: `${CALLBACK}?code=x` } });
    },
    says: /error without state must be "invalid_request", is absent/,
  },
  'authorization-response.state': {
    alter: (_, answered) => {
      const { location } = answered.headers;
      if (typeof location === 'string') answered.headers.location = location.replace('state=AZ%2Caz.09_-', 'state=AZ%2Caz.09_');
    },
    says: /state must be "AZ,az\.09_-", is "AZ,az\.09_"/,
  },
  'code.unsupported_grant_type': {
    alter: ({ form }, answered) => {
      if (form.get('grant_type') === 'nonsense') answered.text = answered.text.replace('unsupported_grant_type', 'invalid_request');
    },
    says: /error must be "unsupported_grant_type", is "invalid_request"/,
  },
  'code.login_required': {
    alter: (_, { headers }) => {
      // In the fragment: it is the code of the rule that is changed, and not that of the others.
      if (typeof headers.location === 'string')
        headers.location = headers.location.replace('#error=login_required', '#error=access_denied');
    },
    says: /error must be "login_required", is "access_denied"/,
  },
  'authorize.no-ajax': {
    alter: (asked, { headers }) => {
      if (isAt(asked, 'authorize') && asked.headers.origin !== undefined) headers['access-control-allow-origin'] = '*';
    },
    says: /must not be readable by a script/,
  },
  'response-mode.form_post': {
    alter: (_, answered) => {
      if (answered.text.includes('id="form-post"')) answered.text = answered.text.replace(/<script[^>]*><\/script>/g, '');
    },
    says: /must submit itself/,
  },
  'standards.not-framed': {
    alter: (_, { headers, text }) => {
      if (!text.includes('id="sign-in-form"')) return;
      delete headers['content-security-policy'];
      delete headers['x-frame-options'];
    },
    says: /must forbid framing/,
  },
  'standards.code-once': {
    alter: (() => {
      const first = new Map<string, string>();
      return ({ form }, answered) => {
        const code = form.get('code');
        if (code === null || form.get('grant_type') !== 'authorization_code') return;
        if (answered.status === 200) first.set(code, answered.text);
        else if (first.has(code)) Object.assign(answered, { status: 200, text: first.get(code) });
      };
    })(),
    says: /error of the second use must be "invalid_grant", is absent/,
  },
  // One fault breaks every sentence that speaks of it.
  'revoke.token_type_hint': {
    alter: staysActive,
    says: /must be revoked with token_type_hint access_token — .* received 200 \{"active":true\}/,
  },
  'revoke.token': { alter: staysActive, says: /a revoked access_token must not be active/ },
  'transitions.revoked': { alter: staysActive, says: /active of the revoked refresh token must be false, is true/ },
  'introspection-result.active': { alter: staysActive, says: /active of a revoked token must be false, is true/ },
  'service.two-modes': { alter: staysActive, says: /active of the revoked token must be false, is true/ },
  'introspection-result.uid': {
    alter: (asked, answered) => {
      if (isAt(asked, 'introspect') && answered.text.includes('"device_id"'))
        change(answered, (body) => Object.assign(body, { uid: body.sub }));
    },
    says: /uid of a refresh token must be absent/,
  },
  'error.userinfo.invalid': {
    alter: (asked, answered) => {
      if (isAt(asked, 'userinfo') && answered.status === 401) delete answered.headers['www-authenticate'];
    },
    says: /WWW-Authenticate must match/,
  },
  'error.userinfo.scope': {
    alter: (asked, answered) => {
      if (isAt(asked, 'userinfo')) delete answered.headers.expires;
    },
    says: /Expires must be "0", is null/,
  },
  'logout.invalid-hint': {
    alter: (asked, answered) => {
      if (!isAsked(asked, 'id_token_hint', 'nonsense')) return;
      Object.assign(answered, { status: 302, headers: { location: 'https://doctor.invalid/signed-out' } });
    },
    says: /an error page must be shown/,
  },
  'organizations.list': {
    alter: (asked, answered) => {
      if (asked.url.search !== '?page=1&limit=1') return;
      change(answered, (body) => {
        delete body.count;
      });
    },
    says: /count must be the number of all organizations/,
  },
  'keys.next': {
    alter: (() => {
      let next = '';
      return (asked, answered) => {
        if (asked.url.pathname.endsWith('/default/credentials/keys')) {
          next = (JSON.parse(answered.text) as { kid: string; status: string }[]).find(({ status }) => status === 'NEXT')?.kid ?? '';
        }
        if (!isAt(asked, 'default/keys')) return;
        change(answered, (body) => Object.assign(body, { keys: (body.keys as { kid: string }[]).filter(({ kid }) => kid !== next) }));
      };
    })(),
    says: /default: \S+ is not at \S+\/oauth\/v1\/default\/keys/,
  },
  'keys.rotation': {
    alter: ({ method, url }, answered) => {
      if (method !== 'GET' || url.pathname !== '/api/v1/authorizationServers') return;
      answered.text = answered.text.replace(/"nextRotation":"\d{4}/, '"nextRotation":"2020');
    },
    says: /: it was due at 2020-/,
  },
  'hooks.answer': {
    alter: ({ url }, answered) => {
      if (url.pathname === '/api/v1/inlineHooks') answered.text = JSON.stringify([{ id: 'cal_1', name: 'Tenant', status: 'ACTIVE' }]);
      if (url.searchParams.get('filter')?.includes('cal_1'))
        answered.text = JSON.stringify([{ published: '2026-11-24T12:00:00.000Z', outcome: { result: 'FAILURE', reason: 'TIMEOUT' } }]);
    },
    says: /Tenant: TIMEOUT \(2026-11-24/,
  },
  'signals.delivered': {
    alter: ({ url }, answered) => {
      if (url.pathname !== '/api/v1/ssf/streams') return;
      const stream = { status: 'ENABLED', statusReason: null, delivery: { method: 'PUSH' }, waiting: { count: 0, oldest: null } };
      const well = { ...stream, lastDelivered: '2026-11-24T12:00:01.000Z', lastFailed: '2026-11-24T12:00:00.000Z', lastError: 'once' };
      const old = { count: 7, oldest: '2026-11-24T12:00:00.000Z' };
      answered.text = JSON.stringify([
        { ...well, id: 'sgn_well' },
        { ...well, id: 'sgn_away', lastDelivered: null, lastError: 'the receiver answered 500' },
        { ...well, id: 'sgn_unfetched', delivery: { method: 'POLL' }, waiting: old },
        { ...well, id: 'sgn_paused', status: 'PAUSED', delivery: { method: 'POLL' }, waiting: old },
        { ...well, id: 'sgn_gone', status: 'DISABLED', statusReason: 'The receiver answered 410' },
        { ...well, id: 'sgn_off', status: 'DISABLED', statusReason: 'Not needed' },
      ]);
    },
    says: /— sgn_away: delivery failed at 2026-11-24T12:00:00.000Z: the receiver answered 500; sgn_unfetched: 7 events have not been polled since 2026-11-24T12:00:00.000Z; sgn_gone: disabled: The receiver answered 410\. Open/,
  },
  'sign-in.phone-codes': {
    alter: ({ url }, answered) => {
      if (url.pathname === '/api/v1/settings/sign-in' && answered.status === 200)
        change(answered, (body) => Object.assign(body, { messageFactors: ['sms'] }));
    },
    says: /messageFactors of settings\/sign-in has sms, but nothing sends these codes: set url of settings\/telephony/,
  },
  'sign-in.bots': {
    alter: ({ url }, answered) => {
      if (url.pathname === '/api/v1/settings/registration') change(answered, (body) => Object.assign(body, { enabled: true }));
      if (url.pathname === '/api/v1/settings/bots') change(answered, (body) => Object.assign(body, { signUp: 'OFF' }));
    },
    says: /signUp of settings\/bots is OFF: set it to ADAPTIVE/,
  },
  'standards.scim': {
    alter: ({ url }, answered) => {
      if (url.pathname === '/scim/v2/Users' && answered.status === 200)
        change(answered, (body) => Object.assign(body, { totalResults: 1 }));
    },
    says: /users of elsewhere that the token finds must be 0, is 1/,
  },
  'clock.service': {
    alter: ({ url }, { headers }) => {
      if (url.pathname === '/health/live') headers.date = new Date(Date.now() - 60_000).toUTCString();
    },
    says: /seconds behind/,
  },
};

const lineOf = (stdout: string, id: string): string => stdout.split('\n').find((line) => line.startsWith(`FAIL  ${id}: `)) ?? '';

test('each rule that is broken has its line, and it alone', async (t) => {
  const service = await startAltered(t);
  service.alter((asked, answered) => {
    for (const { alter } of Object.values(BROKEN)) alter(asked, answered);
  });
  const { output, ended } = doctor(t, service);
  assert.equal(await ended, 1);
  assert.deepEqual(outcomes(output.stdout).FAIL.sort(), Object.keys(BROKEN).sort(), output.stdout);
  for (const [id, { says }] of Object.entries(BROKEN)) assert.match(lineOf(output.stdout, id), says);
});
