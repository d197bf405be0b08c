/** All checks of the installation. They run before the rules of the specification. */
import type { Rule } from '../rule.ts';
import { applicationChecks } from './applications.ts';
import type { CheckContext } from './check-context.ts';
import { clock } from './clock.ts';
import { configurationChecks } from './configuration.ts';
import { database, dataChecks } from './database.ts';
import { keys } from './keys.ts';
import { mail } from './mail.ts';
import { mutualTls } from './mutual-tls.ts';
import { organizations } from './organizations.ts';
import { hooks, provisioning, signals } from './outbound.ts';
import { countryChecks, passwordChecks, signInChecks } from './sign-in.ts';

export const INSTALLATION: readonly Rule<CheckContext>[] = [
  ...configurationChecks,
  ...database,
  ...dataChecks,
  ...keys,
  ...clock,
  ...mail,
  ...mutualTls,
  ...applicationChecks,
  ...passwordChecks,
  ...countryChecks,
  ...signInChecks,
  ...hooks,
  ...organizations,
  ...provisioning,
  ...signals,
];
