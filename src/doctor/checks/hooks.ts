/** Do inline hooks answer? Each is judged by what came of it when it was last asked; the doctor asks none by itself. */

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
    sentence: 'Every active inline hook gave an answer when it was last asked within seven days.',
    async run(ground) {
      const active = ((await read(ground, '/inlineHooks?limit=200')) as readonly Hook[]).filter(({ status }) => status === 'ACTIVE');
      const problems: string[] = [];
      for (const { id, name } of active) {
        const filter = encodeURIComponent(`eventType eq "inline_hook.executed" and target.id eq "${id}"`);
        const [last] = (await read(ground, `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`)) as readonly Asked[];
        if (last?.outcome.result === 'FAILURE') problems.push(`${name}: ${last.outcome.reason ?? ''} (${last.published})`);
      }
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Test the hook on its page of the console`);
      return `${active.length} ${active.length === 1 ? 'hook' : 'hooks'}`;
    },
  },
]);
