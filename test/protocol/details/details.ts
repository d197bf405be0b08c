/** What the tests of authorization details share: a server with two types, an application that may use them, and its requests. */
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  post,
  type TestClient,
  verifier,
} from '../servers/relying-party.ts';

export const PAYMENT = { type: 'payment', amount: { value: '120.50', currency: 'EUR' }, creditor: 'Fern & Sons' };
export const ACCOUNTS = { type: 'accounts', actions: ['list', 'balance'], locations: ['https://bank.example/accounts'] };

export const PAYMENT_TYPE = {
  name: 'payment',
  displayName: 'Make a payment',
  template: 'Pay {amount.value} {amount.currency} to {creditor}',
  translations: { de: { displayName: 'Zahlung auslösen', template: '{amount.value} {amount.currency} an {creditor} zahlen' } },
  schema: {
    type: 'object',
    required: ['amount', 'creditor'],
    additionalProperties: false,
    properties: {
      type: true,
      amount: { $ref: '#/$defs/amount' },
      creditor: { type: 'string', maxLength: 70, title: 'Recipient' },
      when: { type: 'string', format: 'date' },
    },
    $defs: {
      amount: {
        type: 'object',
        required: ['value', 'currency'],
        additionalProperties: false,
        properties: { value: { type: 'string', pattern: '^[0-9]{1,9}(\\.[0-9]{2})?$' }, currency: { enum: ['EUR', 'USD'] } },
      },
    },
  },
};
const ACCOUNTS_TYPE = { name: 'accounts', displayName: 'See your bank accounts' };

export const EVERY_GRANT = {
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
  authorization_details_types: ['payment', 'accounts'],
};

interface Reached {
  readonly page: Page;
  /** @param arrived where the code is */
  exchange(arrived: Page, form?: Record<string, string>): Promise<JsonAnswer>;
}

export interface Bank {
  readonly service: Service;
  readonly client: TestClient;
  readonly user: { id: string; login: string; password: string };
  readonly browser: UserAgent;
  /** An authorization request of the application's, as far as the consent page or the application. */
  reach(details: unknown, more?: Record<string, string | undefined>): Promise<Reached>;
  token(form: Record<string, string>, by?: TestClient): Promise<JsonAnswer>;
  /** What introspection says, and of a JWT the token itself. */
  detailsOf(token: string): Promise<unknown>;
}

export async function bank(t: Parameters<typeof startService>[0], server: object = {}, application: object = {}): Promise<Bank> {
  const service = await startService(t);
  assert.equal((await service.api('POST', '/authorizationServers', { id: 'bank', name: 'Bank', ...server })).status, 201);
  for (const type of [PAYMENT_TYPE, ACCOUNTS_TYPE]) {
    const made = await service.api('POST', '/authorizationServers/bank/authorizationDetailTypes', type);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const user = await service.createUser();
  const client = await createClient(service, { ...EVERY_GRANT, consent_method: 'REQUIRED', ...application });
  const browser = new UserAgent(service.baseUrl);
  const begin = (details: unknown, more: Record<string, string | undefined>) => {
    const proof = verifier();
    const authorization_details = typeof details === 'string' ? details : JSON.stringify(details);
    const asked = { client_id: client.clientId, scope: 'openid offline_access', code_challenge: challengeOf(proof), authorization_details };
    const url = authorizeUrl(service, 'bank', { ...asked, ...more });
    const exchange = (page: Page, form: Record<string, string> = {}) =>
      token({ grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK, code_verifier: proof, ...form });
    return { url, exchange };
  };
  const token = (form: Record<string, string>, by = client) => post(service, 'bank', 'token', by, form);
  return {
    service,
    client,
    user,
    browser,
    token,
    async reach(details, more = {}) {
      const { url, exchange } = begin(details, more);
      const page = await browser.visit(url);
      return { page: page.text.includes('id="sign-in"') ? await browser.signIn(page, user) : page, exchange };
    },
    async detailsOf(value) {
      const { body } = await post(service, 'bank', 'introspect', client, { token: value });
      assert.equal(body.active, true);
      if (value.startsWith('eyJ'))
        assert.deepEqual(decodeJwt(value).authorization_details, body.authorization_details, 'the JWT says the same');
      return body.authorization_details;
    },
  };
}
