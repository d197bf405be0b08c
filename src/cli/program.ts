/**
 * The command `gatehouse`: its subcommands with their arguments and options. What each does stands in a file of its own, which is loaded
 * only when it is called.
 */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { print, type Terminal } from './command.ts';
import { version } from './version.ts';

/** Exit code of a call that cannot be understood. 1 is a result that is not good. */
const NOT_DONE = 2;
const LOCAL = 'http://localhost:3000';

function webAddress(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError('It must be an address that begins with http:// or https://.');
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
  throw new InvalidArgumentError('It must be a number, a colon and a hash, as "audit verify" prints them.');
}

/** Same list as in features/import/formats.service.ts, which is loaded only on use. */
const IMPORT_FORMATS: readonly string[] = ['ndjson', 'csv', 'keycloak', 'auth0', 'okta', 'zitadel'];

/** Runs a subcommand. @returns the exit code */
type Run = (terminal: Terminal) => Promise<number>;

/**
 * Carries out what the arguments ask for.
 * @param terminal its arguments are those after the program's name; none: start
 * @returns the exit code: 0 when all is well; what else there is, each subcommand's help says
 */
export async function runProgram(terminal: Terminal): Promise<number> {
  let run: Run | undefined;
  const program = new Command('gatehouse')
    .description('Gatehouse, an identity service: OpenID Connect and OAuth 2.0, hosted sign-in, a management API and a console.')
    .version(version(), '-v, --version')
    .helpCommand(false)
    .showHelpAfterError()
    .showSuggestionAfterError()
    .addHelpText('after', '\nWithout a subcommand the service starts. All are configured by the same environment variables.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.stdout.write(text), writeErr: (text) => terminal.stderr.write(text) });

  program
    .command('start')
    .description('Start the service; the schema is migrated first.')
    .action(() => {
      run = async (to) => (await import('./start.ts')).start(to);
    });
  program
    .command('migrate')
    .description('Bring the schema of the database up to date, and end.')
    .action(() => {
      run = async (to) => (await import('./start.ts')).runMigrations(to);
    });
  program
    .command('doctor')
    .description(
      'Check the installation and, with an API token, every flow and error of the specification. Exit code 0: all is right, else 1.',
    )
    .option('--url <address>', 'where the service is (default: BASE_URL)', webAddress)
    .option('--token <token>', 'API token of an administrator; better in the environment variable GATEHOUSE_TOKEN')
    .option('--seconds <number>', 'how long it may take', wholeSeconds, 300)
    .action((options) => {
      run = async (to) => (await import('./doctor.ts')).doctor(to, options);
    });
  program
    .command('administrator')
    .description('Let a lost administrator in: make the user a SUPER_ADMIN who can sign in, and print a link to choose a password.')
    .addArgument(new Argument('<user-name>', 'who').argParser(userName))
    .option('--reset-factors', 'remove the second factors as well', false)
    .action((login, options) => {
      run = async (to) => (await import('./administrator.ts')).administrator(to, { login, ...options });
    });
  program
    .command('backup')
    .description('Back the embedded database up, beside the running service or without it.')
    .argument('<folder>', 'a new folder')
    .action((folder) => {
      run = async (to) => (await import('./backup.ts')).backup(to, folder);
    });
  program
    .command('restore')
    .description('Make the embedded database from a backup, in a DATA_DIR that has none.')
    .argument('<folder>', 'of a backup')
    .action((folder) => {
      run = async (to) => (await import('./restore.ts')).restore(to, folder);
    });
  program
    .command('reseal')
    .description('Seal everything with the first key of SECRET_KEY. Exit code 0: done, 1: something cannot be opened, 2: not carried out.')
    .action(() => {
      run = async (to) => (await import('./reseal.ts')).reseal(to);
    });
  program
    .command('import')
    .description(
      'Import users, and what else the format has. What is there already stays as it is. Exit code 0: all, 1: some were refused, 2: not carried out.',
    )
    .usage('[options] [format] <file>')
    .argument('<format-or-file>', 'ndjson (unless given), csv, keycloak, auth0, okta or zitadel')
    .argument('[file]', 'what to import')
    .option('--dry-run', 'tell what would be imported, and write nothing', false)
    .option('--refused <file>', 'a new file for what is refused: lines and reasons')
    .option('--passwords <file>', 'of auth0: its export of password hashes')
    .action((first, second, options, self) => {
      const named = second === undefined ? { format: 'ndjson', file: first } : { format: first, file: second };
      if (!IMPORT_FORMATS.includes(named.format)) self.error(`error: unknown format '${named.format}'`);
      run = async (to) => (await import('./import.ts')).importCommand(to, { ...named, ...options });
    });
  program
    .command('export')
    .description('Export what can be imported elsewhere.')
    .command('users')
    .description('Write all users. Exit code 0: done, 2: not carried out.')
    .addOption(new Option('--format <format>', 'of the file').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--with-password-hashes', 'with the hashes of passwords', false)
    .option('--with-totp-secrets', 'with the secrets of authenticator apps', false)
    .option('--output <file>', 'a new file, readable by its owner alone (default: standard output)')
    .action((options) => {
      run = async (to) => (await import('./export.ts')).exportUsersCommand(to, options);
    });
  program
    .command('audit')
    .description('Examine the audit log.')
    .command('verify')
    .description('Verify that the audit log is as it was sealed. Exit code 0: it is, 1: it is not, 2: not carried out.')
    .option('--seal <number:hash>', 'a seal noted elsewhere, which must be in the chain', notedSeal)
    .action((options) => {
      run = async (to) => (await import('./audit.ts')).audit(to, options);
    });

  const configuration = program
    .command('configuration')
    .description('Configuration as code, over the management API of a running service. The API token is in GATEHOUSE_TOKEN.');
  const remote = (name: string): Command =>
    configuration.command(name).option('--url <address>', 'where the service is', webAddress, LOCAL);
  remote('export')
    .description('Print the configuration of the service.')
    .option('--json', 'as JSON, not YAML', false)
    .action((options) => {
      run = async (to) => (await import('./configuration.ts')).exportConfiguration(to, options);
    });
  remote('plan')
    .description('Tell what differs from a file. Exit code 0: nothing, 1: something, 2: not carried out.')
    .argument('<file>', 'YAML or JSON')
    .option('--delete', 'delete what the file does not name', false)
    .action((file, options) => {
      run = async (to) => (await import('./configuration.ts')).planConfiguration(to, { file, ...options });
    });
  remote('apply')
    .description('Make the service as a file wants it. Exit code 0: it is, 1: it is not, 2: not carried out.')
    .argument('<file>', 'YAML or JSON')
    .option('--delete', 'delete what the file does not name', false)
    .option('--yes', 'do not ask', false)
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
    .description('List the licences of the delivered packages. Exit code 1: one may not be delivered along.')
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

/** The npm scripts of former versions; they go with the next one. */
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

/** npm tells by which script it runs a program. */
function hintAtOldName({ env, stderr }: Terminal): void {
  const script = env.npm_lifecycle_event ?? '';
  if (OLD_SCRIPTS.includes(script)) print(stderr, `"npm run ${script}" goes with the next version. Use "npx gatehouse ${script}".`);
}
