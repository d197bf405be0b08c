/**
 * The command for configuration as code: `gatehouse configuration export`, `plan <file>` and `apply <file>`, over the management API of a running
 * service on this or another machine. Exit code 0 if the service corresponds to the file, 1 if it does not, 2 on failure.
 */
import { createInterface } from 'node:readline/promises';
import { readSections } from '../features/configuration/current.ts';
import { readConfiguration, writeConfiguration } from '../features/configuration/file.ts';
import { RESOURCE_KINDS } from '../features/configuration/kinds.ts';
import { directoryOf } from '../features/configuration/names.ts';
import { type PlanStep, plan } from '../features/configuration/plan.ts';
import { changes, reportLines, summaryOf } from '../features/configuration/report.ts';
import { type Service, serviceAt } from '../features/configuration/service.ts';
import { command } from './command.ts';
import { StartFailure } from './lifecycle.ts';
import { type Output, print, type Terminal } from './terminal.ts';

interface Remote {
  readonly url: string;
}
interface Wanted extends Remote {
  readonly file: string;
  /** Deletes objects that the sections of the file do not contain. */
  readonly delete: boolean;
}

/** @throws {StartFailure} without a token */
function connect({ url }: Remote, { GATEHOUSE_TOKEN: token = '' }: NodeJS.ProcessEnv) {
  if (token === '') throw new StartFailure('Set GATEHOUSE_TOKEN to the API token of an administrator.');
  const service: Service = serviceAt(url, token);
  return { service, directory: directoryOf(service) };
}

export const exportConfiguration = command(2, async ({ env, stdout }, options: Remote & { readonly json: boolean }) => {
  const { service, directory } = connect(options, env);
  stdout.write(writeConfiguration(await readSections(service, directory, RESOURCE_KINDS), options.json ? 'json' : 'yaml'));
  return 0;
});

/** Describes the planned changes. */
async function planned({ env, stdout }: Terminal, options: Wanted) {
  const sections = readConfiguration(options.file, RESOURCE_KINDS);
  const context = { ...connect(options, env), env, deleting: options.delete };
  const steps = await plan(context, sections, RESOURCE_KINDS);
  for (const step of steps) for (const line of reportLines(step)) print(stdout, line);
  print(stdout, summaryOf(steps));
  return { wanted: changes(steps), planAgain: () => plan(context, sections, RESOURCE_KINDS) };
}

export const planConfiguration = command(2, async (terminal, options: Wanted) => {
  const { wanted } = await planned(terminal, options);
  return wanted.length === 0 ? 0 : 1;
});

export const applyConfiguration = command(2, async (terminal, options: Wanted & { readonly yes: boolean }) => {
  const { wanted, planAgain } = await planned(terminal, options);
  const { stdin, stdout } = terminal;
  if (wanted.length === 0) return 0;
  if (!options.yes && !(await isAgreed(stdin))) return 1;
  await executeSteps(wanted, stdout);
  // Only the current state counts: a later step may have moved an object that an earlier step placed.
  const left = changes(await planAgain());
  print(
    stdout,
    left.length === 0
      ? 'The service matches the file.'
      : `${left.length} differences remain. Run "gatehouse configuration plan" to see them.`,
  );
  return left.length === 0 ? 0 : 1;
});

async function isAgreed({ isTTY }: Terminal['stdin']): Promise<boolean> {
  if (!isTTY) throw new StartFailure('There is no terminal for the confirmation. Add --yes to apply without it.');
  const dialog = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await dialog.question('Apply these changes? [y/N] ');
  dialog.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** @throws {StartFailure} with the number of completed steps */
async function executeSteps(steps: readonly PlanStep[], output: Output): Promise<void> {
  for (const [done, step] of steps.entries()) {
    try {
      for (const line of await step.execute()) print(output, line);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      throw new StartFailure(`${error.message}\n${done} of ${steps.length} steps were applied. Correct the file and apply it again.`);
    }
  }
  print(output, `${steps.length} steps applied.`);
}
