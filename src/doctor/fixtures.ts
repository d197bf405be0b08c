/**
 * Test objects of the doctor (user, applications, authorization server, organization), created through the management API and removed at the end
 * (cleanup.ts).
 */
import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, exportPKCS8, generateKeyPair, importPKCS8 } from 'jose';
import { newName, Removals } from './cleanup.ts';
import type { ManagementApi } from './management-api.ts';

export interface TestApplication {
  readonly id: string;
  /** Absent: a public client, or one that signs with its key. */
  readonly secret: string | undefined;
}

export interface TestUser {
  readonly id: string;
  readonly login: string;
  readonly password: string;
}

/** RFC 8628 section 3.4. */
export const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
/** RFC 7523 section 2.1. */
export const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** CIBA section 4. */
export const CIBA_REQUEST_GRANT = 'urn:openid:params:grant-type:ciba';

/** Redirect target. The host does not exist (RFC 2606 section 2): the test browser stops before it. */
export const CALLBACK = 'https://doctor.invalid/callback';
/** Issuer of an authorization server that does not exist. */
export const OTHER_ISSUER = 'https://issuer.doctor.invalid';
/** Registered as well by the application for every flow. */
export const OTHER_CALLBACK = 'https://doctor.invalid/other';
export const SIGNED_OUT = 'https://doctor.invalid/signed-out';
export const BUILT_IN_SERVER = 'built-in';
/** A scope of the temporary server that is never granted without a dialog. */
export const ASKED_SCOPE = 'doctor.asked';

const RESPONSE_TYPES = ['code', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'code id_token token'];

export const PROFILE = {
  firstName: 'Gate',
  middleName: 'House',
  lastName: 'Doctor',
  displayName: 'Gatehouse Doctor',
  nickName: 'Doc',
  profileUrl: 'https://doctor.invalid/profile',
  zoneinfo: 'Europe/London',
  mobilePhone: '+44 20 7946 0000',
};

/** Authorization details type (RFC 9396) at the temporary server. */
export const DETAIL_TYPE = 'doctor_check';

export class Fixtures {
  /** Name of all created objects. */
  readonly name = newName();
  /** Default audience of the temporary server. */
  readonly audience = 'https://api.doctor.invalid';
  /** Second audience of the temporary server. */
  readonly otherAudience = 'https://other.doctor.invalid';
  readonly removals: Removals;
  #pkcs8 = '';

  constructor(readonly api: ManagementApi) {
    this.removals = new Removals(api);
  }

  get serverId(): string {
    return this.name;
  }

  /** The custom server: like every new one it allows everything, so no access policy interferes. */
  async makeServer(): Promise<void> {
    this.removals.noteServer(this.serverId);
    await this.api.make('/authorizationServers', {
      id: this.serverId,
      name: this.name,
      audiences: [this.audience, this.otherAudience],
      clientIdMetadata: { enabled: true },
      registration: { mode: 'TOKEN' },
    });
    await this.api.make(`/authorizationServers/${this.serverId}/scopes`, { name: ASKED_SCOPE, consent: 'REQUIRED' });
    await this.api.make(`/authorizationServers/${this.serverId}/authorizationDetailTypes`, {
      name: DETAIL_TYPE,
      schema: { required: ['of'] },
    });
  }

  /** A user with every userinfo claim. */
  makeUser(): Promise<TestUser> {
    return this.#makePerson(this.name, { ...PROFILE, email: `${this.name}@doctor.invalid` });
  }

  /** A user without an e-mail address, because a sign-in on the page would notify it. */
  makeVisitor(): Promise<TestUser> {
    return this.#makePerson(`${this.name}-visitor`, {});
  }

  async #makePerson(login: string, profile: Readonly<Record<string, string>>): Promise<TestUser> {
    const password = `aA1!${randomBytes(24).toString('base64url')}`;
    this.api.options.secrets.add(password);
    this.removals.noteUser(login);
    const { id } = await this.api.make('/users', { profile: { ...profile, login }, credentials: { password: { value: password } } });
    return { id: String(id), login, password };
  }

  /** @param role its purpose, a part of its client_id */
  async makeApplication(
    role: string,
    settings: Record<string, unknown> = {},
    method = 'client_secret_basic',
    credentials: Record<string, unknown> = {},
  ): Promise<TestApplication> {
    const id = `${this.name}-${role}`;
    this.removals.noteApplication(id);
    const isService = settings.application_type === 'service';
    const redirects = isService ? {} : { redirect_uris: [CALLBACK], post_logout_redirect_uris: [SIGNED_OUT] };
    const made = await this.api.make('/apps', {
      name: 'oidc_client',
      label: `Doctor (${role})`,
      signOnMode: 'OPENID_CONNECT',
      credentials: { oauthClient: { client_id: id, token_endpoint_auth_method: method, ...credentials } },
      settings: { oauthClient: { ...redirects, ...settings } },
    });
    const secret = (made.credentials as { oauthClient?: { client_secret?: string } } | undefined)?.oauthClient?.client_secret;
    this.api.options.secrets.add(secret);
    return { id, secret };
  }

  /** Every flow, without a dialog. */
  makeEverything(): Promise<TestApplication> {
    const grants = [
      'authorization_code',
      'implicit',
      'refresh_token',
      'password',
      'client_credentials',
      DEVICE_CODE_GRANT,
      CIBA_REQUEST_GRANT,
      EXCHANGE_GRANT,
      ASSERTION_GRANT,
    ];
    return this.makeApplication('everything', {
      redirect_uris: [CALLBACK, OTHER_CALLBACK],
      grant_types: grants,
      response_types: RESPONSE_TYPES,
      id_jag_targets: [{ audience: OTHER_ISSUER }],
      authorization_details_types: [DETAIL_TYPE],
    });
  }

  async makeSigning(): Promise<TestApplication> {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
    this.#pkcs8 = await exportPKCS8(privateKey);
    const { n, e } = await exportJWK(publicKey);
    return this.makeApplication('signing', { jwks: { keys: [{ kty: 'RSA', n, e }] } }, 'private_key_jwt');
  }

  /** The key of the application that signs its requests; WebCrypto binds it to one algorithm. */
  keyFor(alg: string): Promise<CryptoKey> {
    return importPKCS8(this.#pkcs8, alg);
  }

  /** @returns the id of an organization with a department in a department */
  async makeOrganization(name = this.name): Promise<string> {
    this.removals.noteOrganization(name);
    const query = new URLSearchParams({ orgName: name, originId: `origin of ${name}` });
    const orgId = String((await this.api.make(`/account/org?${query}`)).orgId);
    const { depId } = await this.#makeDepartment(orgId, { name: 'Upper' });
    await this.#makeDepartment(orgId, { name: 'Lower', parentId: String(depId) });
    return orgId;
  }

  #makeDepartment = (orgId: string, department: Record<string, string>) => this.api.make(`/account/org/${orgId}/department`, department);
}
