/** Configuration as code of what people meet: their attributes, sign-up, sign-in, codes to phones, bots, brand, hooks and roles of applications; on two installations. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Service, startService } from '../support/service.ts';
import { applied as appliedWith, type Content, exported, planned } from './configuring.ts';

const env = { SMS_SECRET: `whsec_${'A'.repeat(43)}=`, HOOK_KEY: 'the-key-of-the-hook' };

const applied = (t: TestContext, service: Service, content: Content) => appliedWith(t, service, content, false, env);

/** A service with the group and the organization that the file names. */
async function furnished(t: TestContext): Promise<Service> {
  const service = await startService(t);
  await service.api('POST', '/groups', { profile: { name: 'Customers' } });
  await service.api('POST', '/account/org?orgName=Shop');
  return service;
}

const permissions = [{ principal: 'SELF', action: 'READ_WRITE' }];
const TELEPHONY = { id: 'telephony', url: 'https://sms.example/gatehouse', prefixes: ['+49'], mostPerDay: 50 };
const REGISTRATION = {
  ...{ id: 'registration', enabled: true, approval: 'ADMIN', groups: ['Customers'], organization: 'Shop' },
  fields: [{ name: 'shoeSize', required: true }],
  ...{ allowedDomains: ['example.com'], blockedDomains: ['mail.example.com'], termsUrl: 'https://shop.example/terms' },
};
const SIGN_IN = {
  ...{ id: 'sign-in', methods: ['password', 'passkey', 'email'], messageFactors: ['email', 'sms'], rememberBrowserDays: 30 },
  ...{ passkeyOffer: true, passwordOptional: true },
  rules: [
    { name: 'Office', conditions: { zones: { include: ['Office'] }, newBrowser: true, daysSinceLastSignIn: 30 }, action: 'SECOND_FACTOR' },
  ],
};
const HOOK = {
  ...{ name: 'Newcomers', type: 'com.okta.user.pre-registration', failure: 'OPEN' },
  channel: {
    ...{ type: 'HTTP', version: '1.0.0' },
    config: { uri: 'https://hooks.example/newcomers', headers: [{ key: 'X-Key', value: { env: 'HOOK_KEY' } }] },
  },
};
const SHOP = {
  ...{ label: 'Shop', credentials: { oauthClient: { client_id: 'shop', token_endpoint_auth_method: 'none' } } },
  settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'], registration: 'OFF' } },
  roles: [{ name: 'buyer', displayName: 'Buyer', description: 'Buys' }],
};
const WANTED = {
  userSchemas: [
    { id: 'default', definitions: { custom: { properties: { shoeSize: { title: 'Shoe size', type: 'integer', permissions } } } } },
  ],
  inlineHooks: [HOOK],
  applications: [SHOP],
  networkZones: [{ name: 'Office', type: 'IP', gateways: [{ type: 'CIDR', value: '203.0.113.0/24' }] }],
  settings: [
    REGISTRATION,
    SIGN_IN,
    { ...TELEPHONY, secret: { env: 'SMS_SECRET' } },
    { id: 'bots', signUp: 'ALWAYS', passwordReset: 'ADAPTIVE', signIn: 'OFF' },
    { id: 'password', breached: 'RANGE_API', breachedRangeUrl: 'https://ranges.example/range/' },
    {
      ...{ id: 'branding', css: { version: 1, radius: 4 }, footerLinks: [{ url: 'https://shop.example/help', labels: { en: 'Help' } }] },
      ...{ faviconUrl: 'https://shop.example/icon.png', backgroundUrl: 'https://shop.example/back.png' },
    },
  ],
  mailTemplates: [{ kind: 'sign-up', language: 'en', subject: 'Welcome to {service}' }],
  texts: [{ language: 'en', key: 'sign-in.submit', text: 'Go on' }],
};

test('all that people meet is set by a file, exported as it is, and the same elsewhere; secrets come from the environment alone', async (t) => {
  const service = await furnished(t);
  assert.deepEqual(await applied(t, service, WANTED), []);
  const settings = async (name: string) => (await service.api('GET', `/settings/${name}`)).body;
  const { id, ...telephony } = TELEPHONY;
  assert.deepEqual(await settings('telephony'), { ...telephony, secretSet: true }, id);
  const [group] = (await service.api('GET', '/groups?q=Customers')).body;
  const registration = await settings('registration');
  assert.deepEqual([registration.groups, registration.approval, registration.fields], [[group.id], 'ADMIN', REGISTRATION.fields]);
  const { rules, rememberBrowserDays, messageFactors } = await settings('sign-in');
  assert.deepEqual([rules, rememberBrowserDays, messageFactors], [SIGN_IN.rules, 30, ['email', 'sms']]);
  assert.equal((await service.api('GET', '/apps/shop/roles')).body[0].name, 'buyer');

  const whole = await exported(service);
  const written = JSON.stringify(whole);
  for (const secret of Object.values(env)) assert.ok(!written.includes(secret));
  const other = await furnished(t);
  const moved = structuredClone(whole);
  Object.assign(
    moved.settings.find((one: Content) => one.id === 'telephony'),
    { secret: { env: 'SMS_SECRET' } },
  );
  Object.assign(moved.inlineHooks[0], { channel: HOOK.channel });
  assert.deepEqual(await applied(t, other, moved), []);
  assert.deepEqual(await exported(other), whole);

  const plain = { settings: [{ ...TELEPHONY, secret: env.SMS_SECRET }] };
  await assert.rejects(planned(t, service, plain, false, env), /A secret must not be in the file/);
});
