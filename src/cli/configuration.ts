/**
 * The command for configuration as code: `npm run configuration -- export`, `plan <file>` and `apply <file>`, over the management API of a running service,
 * near or far. Ends with 0 when the service is as the file wants it, 1 when it is not, 2 when the work could not be done.
 */
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { readSections } from '../features/configuration/current.ts';
import { readConfiguration, writeConfiguration } from '../features/configuration/file.ts';
import { RESOURCE_KINDS } from '../features/configuration/kinds.ts';
import { directoryOf } from '../features/configuration/names.ts';
import { type PlanStep, plan } from '../features/configuration/plan.ts';
import { changes, reportLines, summaryOf } from '../features/configuration/report.ts';
import { type Service, serviceAt } from '../features/configuration/service.ts';
import { command, type Output, print, runAsProgram, type Terminal } from './command.ts';
import { StartFailure } from './lifecycle.ts';

const USAGE = `Usage: npm run configuration -- export [--json]
       npm run configuration -- plan <file> [--delete]
       npm run configuration -- apply <file> [--delete] [--yes]
The service is at --url (http://localhost:3000); the API token of an administrator is in the environment variable GATEHOUSE_TOKEN.`;

interface Arguments {
  readonly verb: 'export' | 'plan' | 'apply';
  readonly file: string;
  readonly url: string;
  readonly json: boolean;
  readonly deleting: boolean;
  readonly confirmed: boolean;
}

/** @throws {StartFailure} */
function readArguments(args: readonly string[]): Arguments {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'http://localhost:3000' },
        json: { type: 'boolean', default: false },
        delete: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
      },
    });
    const [verb, file = '', ...others] = positionals;
    const isVerb = verb === 'export' || verb === 'plan' || verb === 'apply';
    if (isVerb && (file === '') === (verb === 'export') && others.length === 0 && URL.canParse(values.url)) {
      return { verb, file, url: values.url, json: values.json, deleting: values.delete, confirmed: values.yes };
    }
  } catch {
    // An option that there is not.
  }
  throw new StartFailure(USAGE);
}

export const configuration = command(2, async ({ args, env, stdin, stdout }) => {
  const { verb, file, url, json, deleting, confirmed } = readArguments(args);
  const token = env.GATEHOUSE_TOKEN;
  if (token === undefined || token === '') throw new StartFailure(USAGE);
  const service: Service = serviceAt(url, token);
  const directory = directoryOf(service);
  if (verb === 'export') {
    stdout.write(writeConfiguration(await readSections(service, directory, RESOURCE_KINDS), json ? 'json' : 'yaml'));
    return 0;
  }
  const workshop = { service, directory, env, deleting };
  const sections = readConfiguration(file, RESOURCE_KINDS);
  const steps = await plan(workshop, sections, RESOURCE_KINDS);
  for (const step of steps) for (const line of reportLines(step)) print(stdout, line);
  print(stdout, summaryOf(steps));
  const wanted = changes(steps);
  if (verb === 'plan') return wanted.length === 0 ? 0 : 1;
  if (wanted.length === 0) return 0;
  if (!confirmed && !(await isAgreed(stdin))) return 1;
  await carryOut(wanted, stdout);
  // What is there now is what counts: what was put in its place by one step may have moved by the next.
  const left = changes(await plan(workshop, sections, RESOURCE_KINDS));
  print(stdout, left.length === 0 ? 'The service is as the file wants it.' : `${left.length} differences are left: plan again.`);
  return left.length === 0 ? 0 : 1;
});

async function isAgreed({ isTTY }: Terminal['stdin']): Promise<boolean> {
  if (!isTTY) throw new StartFailure('Nobody is here to be asked: say --yes.');
  const dialog = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await dialog.question('Carry this out? [y/N] ');
  dialog.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** @throws {StartFailure} telling how far it came */
async function carryOut(steps: readonly PlanStep[], output: Output): Promise<void> {
  for (const [done, step] of steps.entries()) {
    try {
      for (const told of await step.carryOut()) print(output, told);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      throw new StartFailure(`${error.message}\n${done} of ${steps.length} steps are done; mend the file and apply it again.`);
    }
  }
  print(output, `${steps.length} steps are done.`);
}

runAsProgram(import.meta.url, configuration);
