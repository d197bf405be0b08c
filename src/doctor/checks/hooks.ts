/** Checks the last call of each inline hook; the doctor itself calls none. */

import { Broken, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

interface Hook {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

interface Asked {
  readonly published: string;
  readonly outcome: { readonly result: string; readonly reason: string | null };
}

export const hooks: readonly Rule<CheckContext>[] = section('Hooks', [
  {
    id: 'hooks.answer',
    sentence: 'The last call of every active inline hook in the past seven days succeeded.',
    async run(ground) {
      const active = ((await read(ground, '/inlineHooks?limit=200')) as readonly Hook[]).filter(({ status }) => status === 'ACTIVE');
      const problems: string[] = [];
      for (const { id, name } of active) {
        const filter = encodeURIComponent(`eventType eq "inline_hook.executed" and target.id eq "${id}"`);
        const [last] = (await read(ground, `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`)) as readonly Asked[];
        if (last?.outcome.result === 'FAILURE') problems.push(`${name}: ${last.outcome.reason ?? ''} (${last.published})`);
      }
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the hook in the console and test it`);
      return `${active.length} ${active.length === 1 ? 'hook' : 'hooks'}`;
    },
  },
]);
