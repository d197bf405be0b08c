/**
 * Dynamic client registration (RFC 7591) and management (RFC 7592). A registered client is an ordinary application. It is managed with its
 * registration access token, which is stored as a digest and changes with every update.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { countFailure, type FailureLimit, secondsBlocked } from '../../platform/rate-limits/failures-by-address.store.ts';
import type { GivenSettings } from '../applications/application-settings.policy.ts';
import type { Application } from '../applications/applications.resource.ts';
import { createApplication, deleteApplication, updateApplication } from '../applications/applications.service.ts';
import {
  bindRegistration,
  findRegisteredApplication,
  prolongRegistration,
  rotateRegistrationToken,
} from '../applications/applications.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { offeredTo } from '../scopes/granted-scopes.policy.ts';
import { networkOf } from '../sign-in/failure-limits.service.ts';
import { presentClientMetadata, RegistrationRefused, readClientMetadata } from './client-metadata.service.ts';
import { registrationEnd } from './registration.policy.ts';
import { isRegistrationTokenUsable, useRegistrationToken } from './registration-tokens.store.ts';

/** Limits open registrations and wrong tokens from one network, counted across all processes. */
const FROM_ONE_NETWORK: FailureLimit = { prefix: 'registrations', most: 20, seconds: 3600 };

/** The server, and the call's credentials. */
export interface RegistrationCall {
  readonly server: AuthorizationServer;
  /** Issuer of the server. */
  readonly issuer: string;
  /** Names of all scopes of the server. */
  readonly scopes: readonly string[];
  /** The bearer token of the request. */
  readonly token: string | undefined;
  readonly connection: Omit<RequestContext, 'actor' | 'roles'>;
}

type Answer = Readonly<Record<string, unknown>>;

export class ClientRegistration {
  constructor(readonly services: Services) {}

  /** @throws {RegistrationRefused} */
  async register(call: RegistrationCall, body: unknown): Promise<Answer> {
    const { server, token } = call;
    const { mode } = server.registration;
    if (mode === 'OFF') throw new RegistrationRefused('invalid_request', 'the authorization server takes no registrations', 404);
    await this.#refuseBlocked(call);
    if (mode === 'OPEN') await this.#count(call);
    else if (!(await this.#isUsable(call))) await this.#refuseToken(call);
    const { label, settings } = readClientMetadata(server.registration, body);
    const id = newId('app');
    const name = label ?? hostIn(settings);
    const registrationToken = randomToken();
    const expiresAt = registrationEnd(server.registration, present());
    const input = { id, label: name, settings, origin: 'REGISTERED' as const, registeredAt: server.id, expiresAt };
    const made = await inTermsOfMetadata(() =>
      createApplication(this.services, input, actingAs(call, id, name), async (trx) => {
        if (mode === 'TOKEN' && !(await useRegistrationToken(trx, server.id, digest(token ?? ''), present()))) throw wrongToken();
        await bindRegistration(trx, id, { serverId: server.id, tokenHash: digest(registrationToken) });
      }),
    );
    return responseOf(call, made.application, { secret: made.secret, registrationToken });
  }

  /** The registration access token does not change. @throws {RegistrationRefused} */
  async read(call: RegistrationCall, id: string): Promise<Answer> {
    return responseOf(call, await this.#find(call, id), { secret: undefined, registrationToken: call.token });
  }

  /** Replaces the metadata; absent values return to their defaults. @throws {RegistrationRefused} */
  async replace(call: RegistrationCall, id: string, body: unknown): Promise<Answer> {
    const before = await this.#find(call, id);
    const { label, settings, clientId, secret } = readClientMetadata(call.server.registration, body);
    if (clientId !== undefined && clientId !== id)
      throw new RegistrationRefused('invalid_client_metadata', 'client_id must be that of the client');
    const registrationToken = randomToken();
    const key = { serverId: call.server.id, tokenHash: digest(call.token ?? '') };
    const input = { label: label ?? hostIn(settings), settings, secret };
    const rotate = async (trx: Executor) => {
      // If two updates use the same token at the same time, only one succeeds.
      if (!(await rotateRegistrationToken(trx, id, key, digest(registrationToken)))) throw wrongToken();
    };
    const made = await inTermsOfMetadata(() => updateApplication(this.services, id, input, actingAs(call, id, before.label), rotate));
    return responseOf(call, made.application, { secret: made.secret, registrationToken });
  }

  /** @throws {RegistrationRefused} */
  async remove(call: RegistrationCall, id: string): Promise<void> {
    const { label } = await this.#find(call, id);
    await inTermsOfMetadata(() => deleteApplication(this.services, id, actingAs(call, id, label)));
  }

  /** A user has signed in for it: its expiry is extended. */
  async noteUse({ registration }: AuthorizationServer, id: string): Promise<void> {
    const end = registrationEnd(registration, present());
    if (end !== null) await prolongRegistration(this.services.database.knex, id, end);
  }

  /** The same error for a wrong token and for an application that is deactivated, deleted or of another server (RFC 7592 section 2.1). */
  async #find(call: RegistrationCall, id: string): Promise<Application> {
    await this.#refuseBlocked(call);
    const key = { serverId: call.server.id, tokenHash: digest(call.token ?? '') };
    const found = call.token === undefined ? undefined : await findRegisteredApplication(this.services.database.knex, id, key);
    return found?.status === 'ACTIVE' ? found : this.#refuseToken(call);
  }

  async #isUsable({ server, token }: RegistrationCall): Promise<boolean> {
    return token !== undefined && isRegistrationTokenUsable(this.services.database.knex, server.id, digest(token), present());
  }

  async #refuseBlocked({ connection }: RegistrationCall): Promise<void> {
    const { config, database } = this.services;
    if (!config.rateLimits || connection.ipAddress === undefined) return;
    refuseFor(await secondsBlocked(database.pool, FROM_ONE_NETWORK, networkOf(connection.ipAddress)));
  }

  async #count({ connection }: RegistrationCall): Promise<void> {
    const { config, database } = this.services;
    if (!config.rateLimits || connection.ipAddress === undefined) return;
    refuseFor((await countFailure(database.pool, FROM_ONE_NETWORK, networkOf(connection.ipAddress))).blockedSeconds);
  }

  async #refuseToken(call: RegistrationCall): Promise<never> {
    if (call.token !== undefined) await this.#count(call);
    throw wrongToken();
  }
}

const wrongToken = () => new RegistrationRefused('invalid_token', 'the access token is missing, wrong, used up or expired', 401);

function refuseFor(seconds: number | undefined): void {
  if (seconds !== undefined)
    throw new RegistrationRefused('temporarily_unavailable', 'too many registrations from this address, try again later', 429, seconds);
}

const actingAs = ({ connection }: RegistrationCall, id: string, displayName: string): RequestContext => ({
  ...connection,
  actor: { id, type: 'PublicClientApp', displayName },
});

const hostIn = ({ redirect_uris: [uri = ''] = [] }: GivenSettings): string => new URL(uri).host || uri;

/** Converts refusals of application rules to RFC 7591 errors. */
async function inTermsOfMetadata<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    if (error.status === 404) throw wrongToken();
    const [cause = error.message] = error.causes;
    throw new RegistrationRefused('invalid_client_metadata', cause.replace(/^[\w.]*oauthClient\./, ''));
  }
}

interface Credentials {
  readonly secret: string | undefined;
  readonly registrationToken: string | undefined;
}

function responseOf({ server, issuer, scopes }: RegistrationCall, application: Application, credentials: Credentials): Answer {
  const offered = offeredTo(
    application.origin,
    scopes.map((name) => ({ name })),
    server.registration.allowedScopes,
  );
  return {
    ...presentClientMetadata(
      application,
      offered.map(({ name }) => name),
    ),
    ...(credentials.secret !== undefined && { client_secret: credentials.secret, client_secret_expires_at: 0 }),
    registration_access_token: credentials.registrationToken,
    registration_client_uri: `${issuer}/register/${application.id}`,
  };
}
