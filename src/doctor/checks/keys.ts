/** Can every authorization server sign, now and after the next rotation? */

import { jsonOf } from '../http-client.ts';
import { Broken, must, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

interface Server {
  readonly id: string;
  readonly issuer: string;
  readonly status: string;
  readonly signingAlg: string;
  readonly credentials: { readonly signing: { readonly kid: string; readonly nextRotation: string | null } };
}

interface Key {
  readonly kid: string;
  readonly status: 'NEXT' | 'ACTIVE' | 'RETIRED';
  readonly alg: string;
}

/** Milliseconds that an automatic rotation may be late, because it is checked periodically. */
const LATE = 86_400_000;

/** The active ones of the first two hundred servers. */
const servers = async (context: CheckContext): Promise<readonly Server[]> =>
  ((await read(context, '/authorizationServers?limit=200')) as readonly Server[]).filter(({ status }) => status === 'ACTIVE');

/** Checks the keys of every active server. */
const ofEveryServer =
  (hold: (server: Server, keys: readonly Key[], context: CheckContext) => Promise<void>) => async (context: CheckContext) => {
    const all = await servers(context);
    const problems: string[] = [];
    for (const server of all) {
      const keys = (await read(context, `/authorizationServers/${server.id}/credentials/keys?limit=200`)) as readonly Key[];
      await hold(server, keys, context).catch((error: Error) => problems.push(`${server.id}: ${error.message}`));
    }
    if (problems.length > 0) throw new Broken(problems.join('; '));
    return `${all.length} ${all.length === 1 ? 'server' : 'servers'}`;
  };

const published = async ({ issuer }: Server, { wire }: CheckContext): Promise<readonly string[]> =>
  (jsonOf(await wire().send(`${issuer}/keys`)).keys as readonly Key[]).map(({ kid }) => kid);

const keyOf = (status: Key['status'], { signingAlg }: Server, keys: readonly Key[]): Key => {
  const found = keys.filter((key) => key.status === status && key.alg === signingAlg);
  const [key] = found;
  if (key === undefined || found.length > 1)
    throw new Broken(`there are ${found.length} ${status} keys for ${signingAlg}, expected one: rotate the keys of this server`);
  return key;
};

export const keys: readonly Rule<CheckContext>[] = section('Keys', [
  {
    id: 'keys.active',
    sentence: 'Each authorization server has one active signing key.',
    run: ofEveryServer(async (server, all) => {
      must(
        keyOf('ACTIVE', server, all).kid === server.credentials.signing.kid,
        'it does not sign with its active key: rotate the keys of this server',
      );
    }),
  },
  {
    id: 'keys.published',
    sentence: 'The active signing key is published.',
    run: ofEveryServer(async (server, all, context) => {
      const { kid } = keyOf('ACTIVE', server, all);
      must(
        (await published(server, context)).includes(kid),
        `${kid} is not at ${server.issuer}/keys: check caches and proxies in front of the service`,
      );
    }),
  },
  {
    id: 'keys.next',
    sentence: 'The next signing key exists and is already published.',
    run: ofEveryServer(async (server, all, context) => {
      const { kid } = keyOf('NEXT', server, all);
      must(
        (await published(server, context)).includes(kid),
        `${kid} is not at ${server.issuer}/keys: check caches and proxies in front of the service`,
      );
    }),
  },
  {
    id: 'keys.rotation',
    sentence: 'No automatic rotation is overdue.',
    run: ofEveryServer(async ({ credentials: { signing } }) => {
      const isLate = signing.nextRotation !== null && Date.parse(signing.nextRotation) + LATE < Date.now();
      must(!isLate, `it was due at ${signing.nextRotation}: search the log for signing keys, or rotate the keys of this server yourself`);
    }),
  },
]);
