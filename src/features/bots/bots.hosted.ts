/** The proof of work beside a form: views/partials/proof-of-work.ejs, filled in by views/public/proof-of-work.js. */
import type Koa from 'koa';
import { type HostedDeps, visitor } from '../../pages/hosted/deps.ts';
import type { BotPurpose } from './bots.policy.ts';
import { challengeFor, ProofMissing } from './bots.service.ts';

/** The field that the script fills in. */
export const proofIn = (form: URLSearchParams): string => form.get('proof') ?? '';

/** Template data for a protected form: the challenge, if any, and its script. */
interface ProofLocals {
  readonly proof: string | undefined;
  readonly proofScripts: readonly string[];
}

export async function proofLocals(deps: HostedDeps, ctx: Koa.Context, purpose: BotPurpose): Promise<ProofLocals> {
  const proof = await challengeFor(deps.services, purpose, visitor(ctx, deps.config).ipAddress);
  return { proof, proofScripts: proof === undefined ? [] : ['proof-of-work.js'] };
}

/**
 * Runs the request; if it needs a proof of work, shows the form again with status 429.
 * @param again shows the form with a challenge and an explanation
 */
export async function askingForProof(ctx: Koa.Context, run: () => Promise<void>, again: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ProofMissing)) throw error;
    await again();
    ctx.status = 429;
    ctx.set('Retry-After', String(error.retryAfter));
  }
}
