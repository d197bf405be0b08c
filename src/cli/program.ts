/** The command `gatehouse`: subcommands with arguments and options. Each has its own file, loaded on use. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { print, type Terminal } from './terminal.ts';
import { version } from './version.ts';

/** Exit code of a call with invalid arguments. 1 is a negative result. */
const NOT_DONE = 2;
const LOCAL = 'http://localhost:3000';

function webAddress(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError('It must be a URL that begins with http:// or https://.');
}

function wholeSeconds(value: string): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
}

function userName(value: string): string {
  if (/^\P{C}{1,255}$/u.test(value)) return value;
  throw new InvalidArgumentError('It must have 1 to 255 characters, none of them a control character.');
}

function notedSeal(value: string): { readonly n: number; readonly hash: string } {
  const [, n, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(value) ?? [];
  if (n !== undefined && hash !== undefined) return { n: Number(n), hash };
  throw new InvalidArgumentError('It must be a number, a colon and a hash, as printed by "gatehouse audit verify".');
}

/** Same list as in features/import/formats.service.ts, which is loaded only on use. */
const IMPORT_FORMATS: readonly string[] = ['ndjson', 'csv', 'keycloak', 'auth0', 'okta', 'zitadel'];

/** Runs a subcommand. @returns the exit code */
type Run = (terminal: Terminal) => Promise<number>;

/**
 * Runs the command of the arguments.
 * @param terminal arguments after the program's name; none: start
 * @returns the exit code: 0 on success; the help of each subcommand describes others
 */
export async function runProgram(terminal: Terminal): Promise<number> {
  let run: Run | undefined;
  const program = new Command('gatehouse')
    .description('Gatehouse, an identity service: OpenID Connect and OAuth 2.0, hosted sign-in, a management API and a console.')
    .version(version(), '-v, --version')
    .helpCommand(false)
    .showHelpAfterError()
    .showSuggestionAfterError()
    .addHelpText('after', '\nWithout a command, gatehouse starts the service. All commands read the same environment variables.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.stdout.write(text), writeErr: (text) => terminal.stderr.write(text) });

  program
    .command('start')
    .description('Update the database schema and start the service.')
    .action(() => {
      run = async (to) => (await import('./start.ts')).start(to);
    });
  program
    .command('migrate')
    .description('Update the database schema and exit.')
    .action(() => {
      run = async (to) => (await import('./start.ts')).runMigrations(to);
    });
  program
    .command('doctor')
    .description(
      'Check the installation. With an API token, also test every flow and error of the specification. Exit code 0: no problem found, 1: problems found.',
    )
    .option('--url <address>', 'URL of the service (default: BASE_URL)', webAddress)
    .option('--token <token>', 'API token of an administrator; safer in the environment variable GATEHOUSE_TOKEN')
    .option('--seconds <number>', 'time limit in seconds', wholeSeconds, 300)
    .action((options) => {
      run = async (to) => (await import('./doctor.ts')).doctor(to, options);
    });
  program
    .command('administrator')
    .description(
      'Restore access for an administrator who cannot sign in: activate the user, grant SUPER_ADMIN and print a link to choose a password.',
    )
    .addArgument(new Argument('<user-name>', 'user name of the administrator').argParser(userName))
    .option('--reset-factors', 'also remove the second factors of the user', false)
    .action((login, options) => {
      run = async (to) => (await import('./administrator.ts')).administrator(to, { login, ...options });
    });
  program
    .command('backup')
    .description('Back up the embedded database. The service can keep running.')
    .argument('<folder>', 'new folder for the backup')
    .action((folder) => {
      run = async (to) => (await import('./backup.ts')).backup(to, folder);
    });
  program
    .command('restore')
    .description('Restore the embedded database from a backup into an empty DATA_DIR.')
    .argument('<folder>', 'folder of the backup')
    .action((folder) => {
      run = async (to) => (await import('./restore.ts')).restore(to, folder);
    });
  program
    .command('reseal')
    .description(
      'Encrypt all stored secrets again with the first key of SECRET_KEY. Exit code 0: done, 1: some values cannot be decrypted, 2: failed.',
    )
    .action(() => {
      run = async (to) => (await import('./reseal.ts')).reseal(to);
    });
  program
    .command('import')
    .description(
      'Import users and everything else in the file. Existing entries are not changed. Exit code 0: everything imported, 1: some entries were refused, 2: failed.',
    )
    .usage('[options] [format] <file>')
    .argument('<format-or-file>', 'format: ndjson (default), csv, keycloak, auth0, okta or zitadel')
    .argument('[file]', 'file to import')
    .option('--dry-run', 'show what would be imported and write nothing', false)
    .option('--refused <file>', 'new file for the refused entries, with line numbers and reasons')
    .option('--passwords <file>', 'auth0 only: file with the exported password hashes')
    .action((first, second, options, self) => {
      const named = second === undefined ? { format: 'ndjson', file: first } : { format: first, file: second };
      if (!IMPORT_FORMATS.includes(named.format)) self.error(`error: unknown format '${named.format}'`);
      run = async (to) => (await import('./import.ts')).importCommand(to, { ...named, ...options });
    });
  program
    .command('export')
    .description('Export data for another installation or service.')
    .command('users')
    .description('Export all users. Exit code 0: done, 2: failed.')
    .addOption(new Option('--format <format>', 'file format').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--with-password-hashes', 'include password hashes', false)
    .option('--with-totp-secrets', 'include the secrets of authenticator apps', false)
    .option('--output <file>', 'new file that only its owner can read (default: standard output)')
    .action((options) => {
      run = async (to) => (await import('./export.ts')).exportUsersCommand(to, options);
    });
  program
    .command('audit')
    .description('Check the audit log.')
    .command('verify')
    .description('Verify that nobody changed the sealed audit log. Exit code 0: unchanged, 1: changed, 2: failed.')
    .option('--seal <number:hash>', 'a seal that you kept from an earlier run; it must be in the chain', notedSeal)
    .action((options) => {
      run = async (to) => (await import('./audit.ts')).audit(to, options);
    });

  const configuration = program
    .command('configuration')
    .description(
      'Manage the configuration as code, over the management API of a running service. Set GATEHOUSE_TOKEN to the API token of an administrator.',
    );
  const remote = (name: string): Command => configuration.command(name).option('--url <address>', 'URL of the service', webAddress, LOCAL);
  remote('export')
    .description('Print the configuration of the service.')
    .option('--json', 'print JSON instead of YAML', false)
    .action((options) => {
      run = async (to) => (await import('./configuration.ts')).exportConfiguration(to, options);
    });
  remote('plan')
    .description('Show the differences between a file and the service. Exit code 0: no differences, 1: differences, 2: failed.')
    .argument('<file>', 'configuration file, YAML or JSON')
    .option('--delete', 'in the sections of the file, delete what the file does not name', false)
    .action((file, options) => {
      run = async (to) => (await import('./configuration.ts')).planConfiguration(to, { file, ...options });
    });
  remote('apply')
    .description('Change the service so that it matches a file. Exit code 0: it matches, 1: it does not match, 2: failed.')
    .argument('<file>', 'configuration file, YAML or JSON')
    .option('--delete', 'in the sections of the file, delete what the file does not name', false)
    .option('--yes', 'apply without confirmation', false)
    .action((file, options) => {
      run = async (to) => (await import('./configuration.ts')).applyConfiguration(to, { file, ...options });
    });

  program
    .command('openapi')
    .description('Print the OpenAPI document of the management API.')
    .action(() => {
      run = async (to) => (await import('./openapi.ts')).openapi(to);
    });
  program
    .command('licences')
    .description('List the licences of the packages in this installation. Exit code 1: a licence is not allowed.')
    .action(() => {
      run = async (to) => (await import('./licences.ts')).licences(to);
    });

  hintAtOldName(terminal);
  try {
    await program.parseAsync(terminal.args.length === 0 ? ['start'] : [...terminal.args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : NOT_DONE;
  }
  return run === undefined ? 0 : run(terminal);
}

/** npm scripts of former versions; they will be removed in the next one. */
const OLD_SCRIPTS = [
  'migrate',
  'audit',
  'configuration',
  'doctor',
  'import',
  'reseal',
  'administrator',
  'backup',
  'restore',
  'licences',
  'openapi',
];

/** npm sets the name of the script that runs the program. */
function hintAtOldName({ env, stderr }: Terminal): void {
  const script = env.npm_lifecycle_event ?? '';
  if (OLD_SCRIPTS.includes(script))
    print(stderr, `"npm run ${script}" is deprecated; the next version removes it. Use "npx gatehouse ${script}".`);
}
