/** Is the service configured, reachable, and the one that is meant? */
import { looksGuessable } from '../../platform/crypto/secrets.ts';
import { jsonOf } from '../http-client.ts';
import { must, mustEqual, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig, read } from './check-context.ts';

export const configurationChecks: readonly Rule<CheckContext>[] = section('Configuration', [
  {
    id: 'configuration.right',
    sentence: 'The environment is right, in all that docs/reference/environment.md says.',
    async run({ problems }) {
      must(problems.length === 0, problems.join('; '));
    },
  },
  {
    id: 'configuration.https',
    sentence: 'The service is reached by https, unless it is on this machine.',
    async run(ground) {
      const { secure, loopback, baseUrl } = ownConfig(ground);
      must(secure || loopback, `${baseUrl} is http, and goes over a network`);
    },
  },
  {
    id: 'configuration.failures-counted',
    sentence: 'Calls and failures are counted, so that passwords cannot be tried without end.',
    async run(ground) {
      must(ownConfig(ground).rateLimits, 'RATE_LIMITS is off');
    },
  },
  {
    id: 'configuration.secret-key',
    sentence: 'SECRET_KEY was made at random.',
    async run(ground) {
      const { secretKeys } = ownConfig(ground);
      if (secretKeys === undefined) throw new Skipped('the service keeps a key of its own in DATA_DIR');
      must(!secretKeys.some(looksGuessable), 'it can be guessed: put a new key before it, and run gatehouse reseal');
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
    sentence: 'BASE_URL is the address that the service is reached by.',
    async run({ wire, url }) {
      const { issuer } = jsonOf(await wire().send(`${url}/oauth/v1/.well-known/openid-configuration`));
      mustEqual(issuer, `${url}/oauth/v1`, 'the issuer');
    },
  },
  {
    id: 'configuration.administrators-factor',
    sentence: 'Administrators need a second factor, unless the service is on this machine alone.',
    async run(ground) {
      if (ownConfig(ground).loopback) throw new Skipped('the service is on this machine alone');
      const { mfa } = (await read(ground, '/settings/sign-in')) as { readonly mfa: string };
      must(mfa !== 'OPTIONAL', 'they need none: set mfa of settings/sign-in to ADMINISTRATORS');
    },
  },
  {
    id: 'configuration.token',
    sentence: 'The API token is that of an administrator of the whole service.',
    async run(ground) {
      await read(ground, '/authorizationServers?limit=1');
    },
  },
]);
