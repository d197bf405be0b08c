/** Confirms a bulk action in the console. */
import { wordsOf } from '../../pages/console/administrators.ts';
import { eventually } from '../../support/process.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';

/** Waits for the end of the job. @returns the words of its page */
export async function confirmed(agent: UserAgent, confirm: Page): Promise<string> {
  const page = await agent.submit(confirm, 'console-form');
  const last = await eventually(async () => {
    const now = await agent.visit(page.url.pathname);
    return /data-running/.test(now.text) ? undefined : now;
  }, 'the job ends');
  return wordsOf(last);
}
