/** Is the service configured and reachable, and is it the expected one? */
import { looksGuessable } from '../../platform/crypto/secrets.ts';
import { jsonOf } from '../http-client.ts';
import { must, mustEqual, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig, read } from './check-context.ts';

export const configurationChecks: readonly Rule<CheckContext>[] = section('Configuration', [
  {
    id: 'configuration.right',
    sentence: 'The environment variables are valid (docs/reference/environment.md).',
    async run({ problems }) {
      must(problems.length === 0, problems.join('; '));
    },
  },
  {
    id: 'configuration.https',
    sentence: 'The service uses https, unless it runs on this machine only.',
    async run(context) {
      const { secure, loopback, baseUrl } = ownConfig(context);
      must(
        secure || loopback,
        `${baseUrl} uses http on a network: put a TLS proxy in front of the service and set BASE_URL to its https address`,
      );
    },
  },
  {
    id: 'configuration.failures-counted',
    sentence: 'Rate limits are on, so that passwords cannot be guessed by trying.',
    async run(context) {
      must(ownConfig(context).rateLimits, 'RATE_LIMITS is off: remove this variable');
    },
  },
  {
    id: 'configuration.secret-key',
    sentence: 'SECRET_KEY is random.',
    async run(context) {
      const { secretKeys } = ownConfig(context);
      if (secretKeys === undefined) throw new Skipped('the service keeps a key of its own in DATA_DIR');
      must(!secretKeys.some(looksGuessable), 'it can be guessed: add a new key in front of it and run gatehouse reseal');
    },
  },
  {
    id: 'configuration.ready',
    sentence: 'The service is ready.',
    async run({ wire, url }) {
      mustEqual((await wire().send(`${url}/health/ready`)).status, 200, 'status of /health/ready');
    },
  },
  {
    id: 'configuration.base-url',
    sentence: 'BASE_URL is the public address of the service.',
    async run({ wire, url }) {
      const { issuer } = jsonOf(await wire().send(`${url}/oauth/v1/.well-known/openid-configuration`));
      must(issuer === `${url}/oauth/v1`, `the service uses the issuer ${issuer}: set BASE_URL to its public address`);
    },
  },
  {
    id: 'configuration.administrators-factor',
    sentence: 'Administrators need a second factor, unless the service runs on this machine only.',
    async run(context) {
      if (ownConfig(context).loopback) throw new Skipped('the service runs on this machine only');
      const { mfa } = (await read(context, '/settings/sign-in')) as { readonly mfa: string };
      must(mfa !== 'OPTIONAL', 'they do not: set mfa of settings/sign-in to ADMINISTRATORS');
    },
  },
  {
    id: 'configuration.token',
    sentence: 'The API token belongs to an administrator of the whole service.',
    async run(context) {
      await read(context, '/authorizationServers?limit=1');
    },
  },
]);
