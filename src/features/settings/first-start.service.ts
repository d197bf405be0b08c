/**
 * The first start of a new service: the two authorization servers of config/, the first administrator, and optionally the first API token. Repeated
 * until it has completed once, so that an interrupted start leaves nothing incomplete.
 */
import { AUTHORIZATION_SERVERS } from '../../../config/authorization-servers.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomBase62 } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { createApiToken } from '../api-tokens/api-tokens.service.ts';
import { findTokenBearer } from '../api-tokens/api-tokens.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { seedAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import { findServer } from '../authorization-servers/authorization-servers.store.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import { findPasswordProblem } from '../passwords/password-policy.service.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { firstMfaSettings } from '../second-factors/second-factor.policy.ts';
import type { User } from '../users/users.resource.ts';
import { createUser } from '../users/users.service.ts';
import { findUserByLogin, updatePasswordHash } from '../users/users.store.ts';
import { changeSettings } from './settings.service.ts';
import { isFirstStartDone, markFirstStartDone, withSettingsLock } from './settings.store.ts';

/** Credentials of the first administrator, shown once. */
export interface FirstAdministrator {
  readonly username: string;
  /** undefined when the operator chose it themselves. */
  readonly generatedPassword: string | undefined;
}

/**
 * Runs the first start if it has not happened; of concurrent processes, one runs it and the others wait.
 * @param printCredentials prints the credentials; called before the first start is recorded, so they are never lost
 */
export async function firstStart(services: Services, printCredentials: (administrator: FirstAdministrator) => void): Promise<void> {
  const { database, config } = services;
  if (await isFirstStartDone(database.knex)) return;
  await withSettingsLock(database, async () => {
    if (await isFirstStartDone(database.knex)) return;
    for (const seed of AUTHORIZATION_SERVERS) {
      if ((await findServer(database.knex, seed.id)) !== undefined) continue;
      const { audience = issuerOf(config.baseUrl, seed.id), ...rest } = seed;
      await seedAuthorizationServer(services, { ...rest, audience, system: true }, SYSTEM);
    }
    const password = config.admin.password ?? randomBase62(20);
    const administrator = await administratorWith(services, password);
    await firstToken(services, administrator);
    const mfa = firstMfaSettings(config.loopback, present());
    if (mfa !== undefined) await changeSettings(services, 'sign-in', mfa, SYSTEM);
    printCredentials({ username: administrator.login, generatedPassword: config.admin.password === undefined ? password : undefined });
    await markFirstStartDone(database.knex, present());
  });
}

/** An administrator of an interrupted first start gets the password again, because nobody has seen the former one. */
async function administratorWith(services: Services, password: string): Promise<User> {
  const login = services.config.admin.username;
  const poor = await findPasswordProblem(services, password, { login, email: null, profile: {} });
  // Chosen by the operator: refusing it would keep the service from starting.
  if (poor !== undefined) services.log.warn({ problem: poor.problem }, 'ADMIN_PASSWORD is a weak password: change it after you sign in');
  const passwordHash = await hashPassword(password);
  const left = await findUserByLogin(services.database.knex, login);
  if (left === undefined) {
    return createUser(
      services,
      { profile: { login }, isByMachine: true, passwordHash, activate: true, roles: [{ type: 'SUPER_ADMIN', orgId: undefined }] },
      SYSTEM,
    );
  }
  await services.database.transaction(async (trx) => {
    await updatePasswordHash(trx, left.id, passwordHash, present());
    await recordEvent(trx, {
      eventType: 'user.account.update_password',
      displayMessage: 'Password of the first administrator set',
      request: SYSTEM,
      targets: [{ id: left.id, type: 'User', displayName: left.login }],
    });
  });
  return left;
}

async function firstToken(services: Services, administrator: User): Promise<void> {
  const value = services.config.admin.apiToken;
  if (value === undefined) return;
  if ((await findTokenBearer(services.database.knex, { tokenHash: digest(value), type: 'API' }, present())) !== undefined) return;
  await createApiToken(services, { name: 'ADMIN_API_TOKEN', userId: administrator.id, value }, SYSTEM);
}
