/** Do the documents of applications still match their settings: encryption keys, and members of a sector? */
import type { Application } from '../../features/applications/applications.resource.ts';
import { listApplicationsWithSetting } from '../../features/applications/applications.store.ts';
import { ENCRYPTION_SETTINGS } from '../../features/applications/settings/algorithms.policy.ts';
import { readEncryptionProblems } from '../../features/applications/settings/encryption-keys.service.ts';
import { readSectorDocument, sectorDocumentProblem } from '../../features/subjects/pairwise-subjects.service.ts';
import type { Config } from '../../platform/config/config.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** The number of applications whose documents are read. */
const MOST = 50;
/** The number of applications that are listed by name. */
const MAX_LISTED = 10;

interface Examined {
  /** Each with the application's name. */
  readonly problems: readonly string[];
  readonly words: string;
}

/** Fetches the documents of all applications with one of the settings, concurrently. @throws {Skipped} there is none */
async function examineApplications(
  context: CheckContext,
  settings: readonly string[],
  problemsOf: (config: Config, application: Application) => Promise<readonly string[]>,
): Promise<Examined> {
  const config = ownConfig(context);
  const found = await context
    .database()
    .then(({ knex }) => listApplicationsWithSetting(knex, settings, MOST + 1))
    .catch(() => {
      throw new Skipped('the applications cannot be read from the database');
    });
  if (found.length === 0) throw new Skipped('no application needs one');
  const examined = found.slice(0, MOST);
  const problems = await Promise.all(
    examined.map(async (application) => (await problemsOf(config, application)).map((problem) => `${application.label}: ${problem}`)),
  );
  const more = found.length > MOST ? `, the first ${MOST} by ID` : '';
  return { problems: problems.flat(), words: `${examined.length} ${examined.length === 1 ? 'application' : 'applications'}${more}` };
}

const listed = (problems: readonly string[]): string =>
  problems.slice(0, MAX_LISTED).join('; ') + (problems.length > MAX_LISTED ? '; and more' : '');

export const applicationChecks: readonly Rule<CheckContext>[] = section('Applications', [
  {
    id: 'applications.encryption-keys',
    sentence: 'Every application with encrypted responses publishes a key to encrypt to.',
    async run(context) {
      const { problems, words } = await examineApplications(context, ENCRYPTION_SETTINGS, (config, { settings }) =>
        readEncryptionProblems(config, settings),
      );
      must(problems.length === 0, `${listed(problems)}. Sign-ins at these applications fail: publish a key with use enc`);
      return words;
    },
  },
  {
    id: 'applications.sectors',
    sentence: 'The document at each sector_identifier_uri lists the redirect URIs of its application.',
    async run(context) {
      const { problems, words } = await examineApplications(context, ['sector_identifier_uri'], async (config, { settings }) => {
        const problem = sectorDocumentProblem(settings, await readSectorDocument({ config }, settings));
        return problem === undefined ? [] : [`${settings.sector_identifier_uri} ${problem}`];
      });
      must(problems.length === 0, `${listed(problems)}. The applications cannot be saved until the document lists every redirect URI`);
      return words;
    },
  },
]);
