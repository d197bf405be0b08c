/** The generator's process as the run sees it: it is told what to measure, and who sits where. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { end, startNode } from './child.ts';
import type { HashCost, Measurement, Order, Reply, Request, User } from './generator.ts';
import type { Plan } from './options.ts';
import { loginOf, type RunningTarget, type Seat, USERS } from './target.ts';

const ENTRY = fileURLToPath(new URL('generator.js', import.meta.url));

export class Load {
  readonly #child: ChildProcess;

  constructor(readonly plan: Plan) {
    this.#child = startNode(ENTRY, [], { cores: plan.cores?.generator, env: plan.timings, talks: true });
  }

  /** @param more.users who may sit where they sat before, unless the flow uses their tokens up @throws what went wrong there */
  async measure(running: RunningTarget, flow: string, more: Partial<Pick<Order, 'rate' | 'beside' | 'users'>> = {}): Promise<Measurement> {
    const { concurrency, seconds, warmUp, cheapHash } = this.plan;
    // What counts them stops the service for a moment, and who keeps a pace is asked how long he waits.
    const instructions = this.plan.instructions && more.rate === undefined;
    const users = more.users ?? (await seats(running, concurrency, 0));
    const reply = await this.#ask({ order: { flow, target: running.target, seconds, warmUp, cheapHash, instructions, ...more, users } });
    if ('measured' in reply) return reply.measured;
    throw new Error('failed' in reply ? reply.failed : 'the generator answered something else');
  }

  async hashCost(): Promise<HashCost> {
    const reply = await this.#ask({ hash: { instructions: this.plan.instructions } });
    return 'hash' in reply ? reply.hash : { cpu: Number.NaN, instructions: Number.NaN };
  }

  async #ask(request: Request): Promise<Reply> {
    this.#child.send(request);
    const [reply] = (await once(this.#child, 'message')) as [Reply];
    return reply;
  }

  stop(): Promise<void> {
    return end(this.#child);
  }
}

/** Gives each concurrent user his servers, and tokens at each. @param firstLogin of the first user */
export async function seats({ target, issueTokens }: RunningTarget, users: number, firstLogin: number): Promise<User[]> {
  const given: Seat[][] = Array.from({ length: users }, () => []);
  const turns = Math.max(users, target.servers.length);
  for (const [number, server] of target.servers.entries()) {
    // Of one server each user has a seat; of more than there are users, each user has his share.
    const count = Math.ceil((turns - number) / target.servers.length);
    for (const [index, tokens] of (await issueTokens(server, count)).entries()) {
      const user = (number + index * target.servers.length) % users;
      given[user]?.push({ server, tokens, login: loginOf((firstLogin + user) % USERS) });
    }
  }
  return given;
}
