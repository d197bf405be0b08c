/** Files of Auth0, Okta and Zitadel, in the formats that they document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LEFT_BY_AUTH0 } from '../../../src/features/import/formats/auth0.service.ts';
import { LEFT_BY_KEYCLOAK } from '../../../src/features/import/formats/keycloak-left.service.ts';
import { LEFT_BY_OKTA } from '../../../src/features/import/formats/okta.service.ts';
import { LEFT_BY_ZITADEL } from '../../../src/features/import/formats/zitadel-applications.service.ts';
import { codeOf } from '../../support/factors.ts';
import { assertSignsIn, authn, fileWith, fixture, serviceToImportInto } from './importing.ts';

/** What the report at the end says. */
const leftIn = (stdout: string): string[] => (stdout.split('Not imported:\n')[1] ?? '').split(/^- /m).flatMap((line) => line.trim() || []);

/** Of all hashes in the files. */
const PASSWORD = 'correct horse battery staple';
const TOTP = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

const partner = {
  name: 'partner',
  type: 'OIDC',
  protocol: {
    issuer: { url: 'https://idp.example.com' },
    credentials: { client: { client_id: 'us', client_secret: 'a-secret-of-the-partner' } },
  },
};

test('Auth0: a bulk export with the export of password hashes, and the fields of its bulk import', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const created = await service.api('POST', '/idps', partner);
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const attribute = (title: string, action: string) => ({ title, type: 'string', permissions: [{ principal: 'SELF', action }] });
  const properties = { level: attribute('Level', 'READ_ONLY'), team: attribute('Team', 'READ_WRITE') };
  const defined = await service.api('POST', '/meta/schemas/user/default', {
    definitions: { custom: { id: '#custom', type: 'object', properties } },
  });
  assert.equal(defined.status, 200, JSON.stringify(defined.body));
  const args = ['import', 'auth0', fixture('auth0-users.ndjson'), '--passwords', fixture('auth0-passwords.ndjson')];
  const { code, stdout, stderr } = await call(...args);
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^5 imported, 4 refused/);
  assert.match(stderr, /^Line 6 is refused: multifactor: has a second factor \(guardian\) whose secret is not in the export/m);
  assert.match(stderr, /^Line 7 is refused: custom_password_hash\.algorithm: must be .*, not md5$/m);
  assert.match(stderr, /^Line 8 is refused: mfa_factors: has a second factor by phone/m);
  assert.match(stderr, /^Line 9 is refused: profile\.login: is required$/m);
  assert.match(stderr, /^The attribute shoeSize of 1 users is not imported/m);
  assert.deepEqual(leftIn(stdout), [
    'passwords whose hashes are not in the file: 1. Add them with --passwords, or send each user a link to choose a new one.',
  ]);
  for (const name of ['department', 'employeeNumber', 'level'])
    assert.match(stderr, new RegExp(`^The attribute ${name} of 1 users is not imported: users wrote it themselves`, 'm'));
  await assertSignsIn(service, 'ada@example.com', PASSWORD);
  await assertSignsIn(service, 'dan@example.com', PASSWORD, () => codeOf(TOTP));
  await assertSignsIn(service, 'eve@example.com', PASSWORD);
  assert.equal((await authn(service, 'bob', PASSWORD)).status, 401);
  assert.equal((await service.api('GET', '/users/bob')).body.status, 'SUSPENDED');
  const { profile } = (await service.api('GET', '/users/ada@example.com')).body;
  assert.deepEqual(profile, {
    ...{ login: 'ada@example.com', email: 'ada@example.com', emailVerified: true, firstName: 'Ada', lastName: 'Lovelace' },
    ...{ displayName: 'Ada Lovelace', nickName: 'ada', picture: 'https://example.com/ada.png', department: 'Engines', team: 'Looms' },
  });
  const links = (await service.api('GET', `/idps/${created.body.id}/users`)).body;
  assert.deepEqual(
    links.map((link: { externalId: string }) => link.externalId),
    ['77'],
  );

  const again = await call(...args);
  assert.match(again.stdout, /^0 imported, 4 refused, 5 existed already/);
});

test('Okta: groups, applications and users as its API lists them', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const things = await call('import', 'okta', fixture('okta-groups.json'));
  assert.equal(things.code, 0, things.stderr);
  assert.deepEqual(leftIn(things.stdout), ['built-in groups: 1. Nothing to do: every user is in them.']);
  assert.match(things.stdout, /^1 groups, 1 applications created/);
  const app = (await service.api('GET', '/apps/0oa3shop')).body;
  assert.equal(app.label, 'Shop');
  assert.equal(app.credentials.oauthClient.token_endpoint_auth_method, 'client_secret_post');

  const { code, stdout, stderr } = await call('import', 'okta', fixture('okta-users.json'));
  assert.equal(code, 1, stderr);
  assert.deepEqual(leftIn(stdout), [
    'passwords: 2. Ask Okta at the first sign-in by an inline hook, or send each user a link to choose a new one.',
  ]);
  assert.match(stdout, /^3 imported, 3 refused/);
  assert.match(stderr, /^Line 31 is refused: signOnMode: must be OPENID_CONNECT, not SAML_2_0$/m);
  assert.match(stderr, /^Line 32 is refused: protocol\.credentials: Okta does not export client secrets/m);
  assert.match(stderr, /^Line 33 is refused: profile: must be a user/m);
  await assertSignsIn(service, 'isaac.brock@example.com', PASSWORD);
  const isaac = (await service.api('GET', '/users/isaac.brock@example.com')).body;
  assert.equal(isaac.profile.mobilePhone, '555-415-1337');
  const groups = (await service.api('GET', `/users/${isaac.id}/groups`)).body;
  assert.deepEqual(
    groups.map((group: { profile: { name: string } }) => group.profile.name),
    ['West Coast'],
  );
  assert.equal((await service.api('GET', '/users/jane@example.com')).body.profile.lastName, '"{[,]}\\');
  assert.equal((await service.api('GET', '/users/kim@example.com')).body.status, 'SUSPENDED');
});

test('what is not imported is counted by kind, also in a dry run', async (t) => {
  const { call } = await serviceToImportInto(t);
  const left = async (format: string, name: string, content: unknown): Promise<string[]> => {
    const { stdout, stderr, code } = await call('import', format, fileWith(name, JSON.stringify(content)), '--dry-run');
    assert.equal(code, 0, stderr);
    return leftIn(stdout).map((line) => line.slice(0, line.indexOf('.')));
  };
  const zitadel = {
    ...{ org: { name: 'Acme' }, loginPolicy: { allowRegister: true }, labelPolicy: {}, domains: [{ domainName: 'acme.example' }] },
    ...{
      actions: [{}, { actionId: '1' }, { actionId: '2' }],
      initMessages: [{ language: 'de' }],
      verifyPhoneMessages: [{ language: 'de' }],
    },
  };
  assert.deepEqual(await left('zitadel', 'zitadel.json', { orgs: [zitadel, { org: { name: 'Beta' }, lockoutPolicy: { max: 5 } }] }), [
    ...['domains of organizations: 1', 'actions: 2', 'login policies: 1', 'lockout policies: 1', 'texts of messages: 2'],
  ]);
  const mapper = { name: 'shoe size', protocolMapper: 'oidc-usermodel-attribute-mapper' };
  const realm = {
    realm: 'acme',
    components: { 'org.keycloak.storage.UserStorageProvider': [{ name: 'ldap' }], 'org.keycloak.keys.KeyProvider': [{ name: 'rsa' }] },
    clientScopes: [{ name: 'profile', protocolMappers: [mapper] }, { name: 'shoes' }],
    authenticationFlows: [
      { alias: 'browser', builtIn: true },
      { alias: 'with terms', builtIn: false },
    ],
    ...{ smtpServer: {}, passwordPolicy: 'length(12)' },
    groups: [{ name: 'staff', attributes: {}, subGroups: [{ name: 'night', attributes: { shift: ['3'] } }] }],
    clients: [
      { clientId: 'account-console', protocolMappers: [mapper] },
      {
        clientId: 'shop',
        serviceAccountsEnabled: true,
        protocolMappers: [mapper, { protocolMapper: 'oidc-usersessionmodel-note-mapper' }],
      },
    ],
    users: [
      { username: 'service-account-shop', serviceAccountClientId: 'shop' },
      { username: 'ada', requiredActions: ['UPDATE_PASSWORD', 'VERIFY_EMAIL'], credentials: [{ type: 'webauthn-passwordless' }] },
    ],
  };
  assert.deepEqual(await left('keycloak', 'realm.json', realm), [
    ...['user federations (LDAP, Kerberos): 1', 'passkeys: 1', 'required actions other than UPDATE_PASSWORD: 1', 'service accounts: 1'],
    ...['groups with attributes: 1', 'mappers of clients: 1', 'client scopes: 1', 'authentication flows: 1', 'password policy: 1'],
  ]);
  const directory = { type: 'ACTIVE_DIRECTORY', name: 'corp' };
  assert.deepEqual(
    await left('okta', 'users.json', [
      { profile: { login: 'ada' }, credentials: { provider: directory } },
      { profile: { login: 'bob' }, credentials: { password: {}, recovery_question: { question: 'Why?' }, provider: { type: 'OKTA' } } },
    ]),
    ['sign-ins by a directory or another provider: 1', 'passwords: 1', 'recovery questions: 1'],
  );
  const sms = [{ provider: 'sms', connection: 'sms', user_id: '1' }];
  assert.deepEqual(await left('auth0', 'users.json', [{ user_id: 'sms|1', username: 'ada', identities: sms }]), [
    'identities by e-mail or SMS: 1',
  ]);
});

test('the reference lists everything that is not imported', () => {
  const text = readFileSync('docs/reference/import.md', 'utf8');
  const kinds = [...LEFT_BY_KEYCLOAK, ...LEFT_BY_ZITADEL, ...Object.values(LEFT_BY_AUTH0), ...Object.values(LEFT_BY_OKTA)];
  for (const { what, instead } of kinds) assert.ok(text.includes(`| ${what} | ${instead} |`), `| ${what} | ${instead} |`);
});

test('Zitadel: organizations, projects, providers, users and grants', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const { code, stdout, stderr } = await call('import', 'zitadel', fixture('zitadel.json'));
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^1 organizations, 2 applications, 1 identity providers created; 0 existed already\.\n2 imported, 1 refused/);
  assert.match(stderr, /^orgs\[0\]\.humanUsers\[2\] .*is refused: hashedPassword\.value: must be a hash of bcrypt/m);
  assert.deepEqual(leftIn(stdout), ['machine users: 1. Create a service application for each.']);
  await assertSignsIn(service, 'ada@acme.example', PASSWORD, () => codeOf(TOTP));
  const expired = await authn(service, 'bob@acme.example', PASSWORD);
  assert.equal(expired.body.status, 'PASSWORD_EXPIRED');
  const ada = (await service.api('GET', '/users/ada@acme.example')).body;
  for (const app of ['104133391288429064', '104133391288429065'])
    assert.deepEqual((await service.api('GET', `/apps/${app}/users/${ada.id}`)).body.roles, ['buyer']);
  const again = await call('import', 'zitadel', fixture('zitadel.json'));
  assert.match(
    again.stdout,
    /^0 organizations, 0 applications, 0 identity providers created; 4 existed already\.\n0 imported, 1 refused, 2 existed already/,
  );
});

/** An organization of Zitadel with a provider, and a user who is linked there. */
const organization = (name: string, provider: { name: string; issuer: string }, user = `user of ${name}`) => ({
  org: { name },
  oidcIdps: [{ idpId: `${name} ${provider.name}`, idp: { clientId: 'us', clientSecret: 'a-secret-of-the-provider', ...provider } }],
  humanUsers: [{ userId: user, user: { userName: user } }],
  userLinks: [{ userId: user, idpId: `${name} ${provider.name}`, idpName: provider.name, providedUserId: 'subject' }],
});
const zitadelFile = (...orgs: object[]) => fileWith('zitadel.json', JSON.stringify({ orgs }));

test('Zitadel: the provider of an organization is for nobody else', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const azure = { name: 'Azure', issuer: 'https://a.example.com' };
  const file = zitadelFile(organization('Acme', azure));
  const plan = await call('import', 'zitadel', file, '--dry-run');
  assert.equal(plan.code, 0, plan.stderr);
  assert.match(plan.stderr, /Identity providers of Acme are connected with it for no domain/);
  assert.equal((await call('import', 'zitadel', file)).code, 0);
  const [found] = (await service.api('GET', '/idps?q=Azure')).body;
  const [acme] = (await service.api('GET', '/account/org')).body.organizations;
  const connected = (await service.api('GET', `/account/org/${acme.orgId}/idp`)).body;
  assert.deepEqual(
    connected.map((one: { idpId: string; domains: string[] }) => [one.idpId, one.domains]),
    [[found.id, []]],
  );
  assert.doesNotMatch(await (await fetch(`${service.baseUrl}/signin`)).text(), /Azure/);

  // It is there already, and still is no way into another organization.
  const other = await call('import', 'zitadel', zitadelFile(organization('Beta', azure)));
  assert.match(other.stderr, /user of Beta is refused: links\.0\.provider: “Azure” belongs to an organization that the user is not in/);
  const lines = [
    { profile: { login: 'nobody of Acme' }, links: [{ provider: 'Azure', subject: 'x' }] },
    { profile: { login: 'another of Acme' }, organizations: ['Acme'], links: [{ provider: 'Azure', subject: 'y' }] },
  ];
  const records = await call('import', fileWith('users.ndjson', lines.map((line) => JSON.stringify(line)).join('\n')));
  assert.match(records.stdout, /^1 imported, 1 refused/);
  assert.equal((await service.api('GET', `/idps/${found.id}/users`)).body.length, 2);
});

test('Zitadel: two organizations of one name are refused, and nothing is imported', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const file = zitadelFile(
    ...['Acme', 'Beta', ' Acme'].map((name, at) => ({
      org: { name },
      humanUsers: [{ userId: `${at}`, user: { userName: `user ${at}` } }],
    })),
  );
  for (const option of [['--dry-run'], []]) {
    const { code, stderr } = await call('import', 'zitadel', file, ...option);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /orgs\[0\] and orgs\[2\] both have the name “Acme”: rename one of the two in the file/);
  }
  assert.deepEqual((await service.api('GET', '/account/org')).body.organizations, []);
});

test('Zitadel: an organization is another one in another file, unless its ID is the same', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const file = (orgId: string, user: string, name = 'Acme') =>
    zitadelFile({ ...organization(name, { name: `IdP ${user}`, issuer: 'https://a.example.com' }, user), orgId });
  assert.equal((await call('import', 'zitadel', file('1001', 'ada'))).code, 0);
  for (const option of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await call('import', 'zitadel', file('1002', 'bob'), ...option);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^orgs\[0\] Acme is refused: name: is taken by an organization with the external ID 1001; the file says 1002\. Rename/m,
    );
    assert.match(stderr, /^orgs\[0\]\.oidcIdps\[0\] IdP bob is refused: organization: “Acme” of the file is refused$/m);
    assert.match(stderr, /^orgs\[0\]\.humanUsers\[0\] bob is refused: organizations\.0: “Acme” of the file is refused; links/m);
    assert.match(stdout, /^0 (users would be )?imported, 3 refused/m);
  }
  assert.deepEqual(
    (await service.api('GET', '/account/org')).body.organizations.map(({ name, originId }: Record<string, string>) => [name, originId]),
    [['Acme', '1001']],
  );
  // No ID in the file, and one that cannot be stored: nobody joins the organization of that name.
  for (const orgId of ['', 'x'.repeat(256)]) {
    const { stderr } = await call('import', 'zitadel', file(orgId, 'ann'));
    assert.match(stderr, /^orgs\[0\] Acme is refused: (name: is taken .*; the file gives none|originId)/m);
    assert.match(stderr, /^orgs\[0\]\.humanUsers\[0\] ann is refused: organizations\.0: “Acme” of the file is refused; links/m);
  }
  // The same organization, in two files or made by hand.
  assert.equal((await call('import', 'zitadel', file('1001', 'eve'))).code, 0);
  await service.api('POST', '/account/org?orgName=Beta');
  assert.equal((await call('import', 'zitadel', file('1003', 'joe', 'Beta'))).code, 0);

  const twins = [
    { ...{ id: 'a', name: 'Twin' }, members: [{ username: 'kim' }] },
    { id: 'b', name: 'Twin' },
  ];
  const realm = fileWith('realm.json', JSON.stringify({ realm: 'acme', organizations: twins, users: [{ username: 'kim' }] }));
  for (const option of [['--dry-run'], []]) {
    const { stderr } = await call('import', 'keycloak', realm, ...option);
    assert.match(stderr, /^organizations Twin is refused: name: is taken by an organization with the external ID a; the file says b/m);
    assert.match(stderr, /^users\[0\] kim is refused: organizations\.0: “Twin” of the file is refused$/m);
  }
});

test('a provider that only has the name of another one is refused, and all accounts at it', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const file = zitadelFile(
    organization('Acme', { name: 'Azure', issuer: 'https://a.example.com' }),
    organization('Beta', { name: 'Azure', issuer: 'https://b.example.com' }),
  );
  for (const option of [['--dry-run'], []]) {
    const { code, stderr } = await call('import', 'zitadel', file, ...option);
    assert.equal(code, 1);
    assert.match(stderr, /orgs\[1\]\.oidcIdps\[0\] Azure is refused: name: the file has two identity providers with this name/);
    assert.match(stderr, /user of Beta is refused: links\.0\.provider: “Azure” of the file is refused/);
    assert.match(stderr, /user of Acme is refused: links\.0\.provider: “Azure” of the file is refused/);
  }

  const created = await service.api('POST', '/idps', partner);
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const realm = (alias: string, config: object, providerId = 'oidc') =>
    fileWith(
      'realm.json',
      JSON.stringify({
        realm: 'acme',
        identityProviders: [{ alias, providerId, config: { clientSecret: 'a-secret-of-the-provider', ...config } }],
        users: [{ username: 'ada', enabled: true, federatedIdentities: [{ identityProvider: alias, userId: 'x', userName: 'x' }] }],
      }),
    );
  const same = { issuer: partner.protocol.issuer.url, clientId: 'us' };
  for (const refused of [
    realm('partner', { ...same, issuer: 'https://elsewhere.example.com' }),
    realm('partner', { ...same, clientId: 'them' }),
    realm('partner', {}, 'saml'),
  ]) {
    const { stderr } = await call('import', 'keycloak', refused);
    assert.match(stderr, /identityProviders\[0\] partner is refused/);
    assert.match(stderr, /ada is refused: links\.0\.provider: “partner” of the file is refused/);
  }
  const moved = await call('import', 'keycloak', realm('partner', same));
  assert.equal(moved.code, 0, moved.stderr);
  assert.equal((await service.api('GET', `/idps/${created.body.id}/users`)).body.length, 1);
});

test('an array is read piece by piece, and one that ends too soon is refused', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const users = Array.from({ length: 3000 }, (_, n) => ({ profile: { login: `user-${n}`, displayName: '["{\\",'.repeat(20) } }));
  const whole = JSON.stringify(users);
  const first = await call('import', 'okta', fileWith('users.json', whole));
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^3000 imported/);
  assert.equal((await service.api('GET', '/users/user-2999')).body.profile.displayName, '["{\\",'.repeat(20));
  const cut = await call('import', 'okta', fileWith('users.json', whole.slice(0, -1)));
  assert.equal(cut.code, 2);
  assert.match(cut.stderr, /the file ends before its array does/);
  const more = await call('import', 'okta', fileWith('users.json', '[]\n[]'));
  assert.match(more.stderr, /Line 2: something follows the end of the array/);
  for (const content of ['{}', '{"orgs": 1}']) {
    const outcome = await call('import', 'zitadel', fileWith('data.json', content));
    assert.equal(outcome.code, 2);
    assert.match(outcome.stderr, /The file is not data of Zitadel/);
  }
  const misplaced = await call('import', 'okta', fileWith('users.json', '[]'), '--passwords', fixture('auth0-passwords.ndjson'));
  assert.equal(misplaced.code, 2);
  assert.match(misplaced.stderr, /--passwords works only with the format auth0/);
});
