/** The findings as text: a line for each rule, headings, and the totals. */
import type { Finding } from './examination.ts';

/** @returns one line: outcome, rule, sentence, request and response */
export function lineOf({ outcome, id, sentence, words, exchange }: Finding): string {
  const mark = { ok: 'ok  ', FAIL: 'FAIL', skip: 'skip', blocked: 'skip' }[outcome];
  const why = words === undefined ? '' : outcome === 'ok' ? ` (${words})` : outcome === 'FAIL' ? ` — ${words}` : ` (${words})`;
  const showsExchange = exchange !== undefined && outcome !== 'skip';
  return `${mark}  ${id}: ${sentence}${why}${showsExchange ? ` — sent ${exchange.sent} — received ${exchange.received}` : ''}`.replace(
    /[\r\n]+/g,
    ' ',
  );
}

/** @returns true if every check passed or was skipped, and none was blocked */
export const isAllRight = (findings: readonly Finding[]): boolean =>
  findings.every(({ outcome }) => outcome === 'ok' || outcome === 'skip');

export function sumOf(findings: readonly Finding[]): string {
  const count = (outcome: Finding['outcome']) => findings.filter((finding) => finding.outcome === outcome).length;
  const blocked = count('blocked');
  const kept = blocked === 0 ? '' : `, ${blocked} could not be checked`;
  return `${count('ok')} ok, ${count('FAIL')} FAIL, ${count('skip')} skipped${kept}.`;
}
