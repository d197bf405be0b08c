/** All that is checked about the installation, before the specification is. */
import type { Rule } from '../rule.ts';
import { applicationChecks } from './applications.ts';
import type { CheckContext } from './check-context.ts';
import { clock } from './clock.ts';
import { configurationChecks } from './configuration.ts';
import { countryChecks } from './countries.ts';
import { dataChecks } from './data.ts';
import { database } from './database.ts';
import { hooks } from './hooks.ts';
import { keys } from './keys.ts';
import { mail } from './mail.ts';
import { mutualTls } from './mutual-tls.ts';
import { organizations } from './organizations.ts';
import { passwordChecks } from './passwords.ts';
import { provisioning } from './provisioning.ts';
import { signInChecks } from './sign-in.ts';
import { signals } from './signals.ts';

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
