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

/** Milliseconds by which an automatic rotation may be late: it is looked for from time to time. */
const LATE = 86_400_000;

/** Two hundred servers at most: of more, the first. */
const servers = async (ground: CheckContext): Promise<readonly Server[]> =>
  ((await read(ground, '/authorizationServers?limit=200')) as readonly Server[]).filter(({ status }) => status === 'ACTIVE');

/** Every key of every server that is active must be as it is said. */
const ofEveryServer =
  (hold: (server: Server, keys: readonly Key[], ground: CheckContext) => Promise<void>) => async (ground: CheckContext) => {
    const all = await servers(ground);
    const problems: string[] = [];
    for (const server of all) {
      const keys = (await read(ground, `/authorizationServers/${server.id}/credentials/keys?limit=200`)) as readonly Key[];
      await hold(server, keys, ground).catch((error: Error) => problems.push(`${server.id}: ${error.message}`));
    }
    if (problems.length > 0) throw new Broken(problems.join('; '));
    return `${all.length} ${all.length === 1 ? 'server' : 'servers'}`;
  };

const published = async ({ issuer }: Server, { wire }: CheckContext): Promise<readonly string[]> =>
  (jsonOf(await wire().send(`${issuer}/keys`)).keys as readonly Key[]).map(({ kid }) => kid);

const keyOf = (status: Key['status'], { signingAlg }: Server, keys: readonly Key[]): Key => {
  const found = keys.filter((key) => key.status === status && key.alg === signingAlg);
  const [key] = found;
  if (key === undefined || found.length > 1) throw new Broken(`there are ${found.length} keys ${status} for ${signingAlg}, not one`);
  return key;
};

export const keys: readonly Rule<CheckContext>[] = section('Keys', [
  {
    id: 'keys.active',
    sentence: 'Each authorization server has one key that signs.',
    run: ofEveryServer(async (server, all) => {
      must(keyOf('ACTIVE', server, all).kid === server.credentials.signing.kid, 'it signs with another key than the active one');
    }),
  },
  {
    id: 'keys.published',
    sentence: 'The key that signs is published.',
    run: ofEveryServer(async (server, all, ground) => {
      const { kid } = keyOf('ACTIVE', server, all);
      must((await published(server, ground)).includes(kid), `${kid} is not at ${server.issuer}/keys`);
    }),
  },
  {
    id: 'keys.next',
    sentence: 'The key that follows is ready, and published before it signs.',
    run: ofEveryServer(async (server, all, ground) => {
      const { kid } = keyOf('NEXT', server, all);
      must((await published(server, ground)).includes(kid), `${kid} is not at ${server.issuer}/keys`);
    }),
  },
  {
    id: 'keys.rotation',
    sentence: 'No automatic rotation is overdue.',
    run: ofEveryServer(async ({ credentials: { signing } }) => {
      const isLate = signing.nextRotation !== null && Date.parse(signing.nextRotation) + LATE < Date.now();
      must(!isLate, `it was due at ${signing.nextRotation}`);
    }),
  },
]);
