/**
 * oidc-provider's Adapter for the store. IDs are stored as digests (row-keys.ts), and no stored payload contains a usable value. A use is
 * one conditional update in the same statement as the tokens that it yields. Grants are derived from their tokens and never stored.
 * Sessions and clients have their own adapters (session-adapter.ts, client-adapter.ts).
 */

import { epochSeconds } from '../../platform/clock/clock.ts';
import { type AdapterPayload, Provider } from '../library/oidc-provider.ts';
import { freshDeviceId } from '../servers/session-device.ts';
import { NoAdapter } from './no-adapter.ts';
import { answerInteraction, type FoundModel, findModel, MODELS, type ModelName, type StoredKey } from './protocol-state.store.ts';
import { hasUnusedSuccessor } from './refresh-leeway.store.ts';
import { currentRequest, type RequestState } from './request-state.ts';
import { rowKey } from './row-keys.ts';
import type { ServerState } from './server-state.ts';
import { withoutUsableValues } from './stored-payload.ts';

/** Models that store their browser. */
const OF_BROWSERS: ReadonlySet<ModelName> = new Set(['AuthorizationCode', 'RefreshToken']);
/** Models that store the organization that the user signed in for. */
const OF_ORGANIZATIONS: ReadonlySet<ModelName> = new Set(['AuthorizationCode', 'AccessToken', 'RefreshToken']);
const BEARERS: ReadonlySet<ModelName> = new Set(['AccessToken', 'ClientCredentials']);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An interaction was answered after it had ended. */
export class InteractionOver extends Error {
  override readonly name = 'InteractionOver';
}

export class ModelAdapter extends NoAdapter {
  constructor(
    readonly model: ModelName,
    readonly server: ServerState,
  ) {
    super();
  }

  /**
   * Ending a user's sessions also ends their pending sign-ins.
   * @throws {InteractionOver} an ended interaction is answered; it must not be stored again
   */
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const row = {
      model: this.model,
      id: rowKey(id),
      serverKey: this.server.key,
      payload: withoutUsableValues(payload),
      accountId: text(payload.accountId) ?? text(payload.result?.login?.accountId),
      clientId: text(payload.clientId),
      grantId: text(payload.grantId),
      uid: undefined,
      expiresAt: payload.exp ?? epochSeconds() + expiresIn,
    };
    if (this.model === 'Interaction' && payload.result !== undefined) {
      if (!(await this.server.read((pool) => answerInteraction(pool, row, epochSeconds())))) throw new InteractionOver();
      return;
    }
    await this.server.write((request) => {
      const organization = OF_ORGANIZATIONS.has(this.model) ? keptOrganization(request, row.grantId) : {};
      Object.assign(row.payload, this.#device(request), this.#predecessor(request), organization);
      request.writes.insert(row);
    });
  }

  override async find(presented: string): Promise<AdapterPayload | undefined> {
    const request = currentRequest();
    const id = request?.handles.get(presented) ?? presented;
    const key = this.keyOf(id);
    const pending = request?.models.get(key) ?? this.server.read((pool) => findModel(pool, key, this.server.key, epochSeconds()));
    request?.models.set(key, pending);
    const found = await pending;
    if (request?.bearerRule !== undefined && found !== undefined && BEARERS.has(found.model))
      request.clientId = text(found.payload.clientId);
    const shown = found !== undefined && BEARERS.has(found.model) ? await request?.bearerRule?.(found) : undefined;
    if (found === undefined || !this.accepts(found, id) || isOfAnotherBrowser(found, request)) return undefined;
    if (request !== undefined) remember(request, found);
    return Object.assign(this.present(id, found, await this.#isConsumed(key, found)), shown);
  }

  /** A used refresh token counts as consumed after its leeway, or once its successor was used or revoked. */
  async #isConsumed(id: string, { payload, consumedAt }: FoundModel): Promise<boolean> {
    if (consumedAt === undefined || this.model !== 'RefreshToken') return consumedAt !== undefined;
    const [now, grantId] = [epochSeconds(), text(payload.grantId)];
    if (grantId === undefined || consumedAt + this.server.refreshTokenLeeway(payload.clientId) <= now) return true;
    return !(await this.server.read((pool) =>
      hasUnusedSuccessor(pool, { model: this.model, id, serverKey: this.server.key }, grantId, now),
    ));
  }

  /** The use is written with the tokens that it yields. Of two uses of one value, the second fails (RFC 6749 section 4.1.2). */
  override async consume(id: string): Promise<void> {
    const leeway = this.model === 'RefreshToken' ? this.server.refreshTokenLeeway(Provider.ctx?.oidc.client?.clientId) : 0;
    await this.server.write((request) => request.writes.uses.push({ leeway, ...this.#key(id) }));
  }

  override async destroy(id: string): Promise<void> {
    await this.server.write((request) => request.writes.delete(this.#key(id)));
  }

  override async revokeByGrantId(grantId: string): Promise<void> {
    await this.server.write((request) => request.endedGrants.add(grantId));
  }

  /** Browser that a code or refresh token belongs to. */
  #device(request: RequestState): { readonly deviceId?: string } {
    if (!OF_BROWSERS.has(this.model)) return {};
    request.deviceId ??= freshDeviceId();
    return { deviceId: request.deviceId };
  }

  /** Is it a row of this model? @param _id the ID that it was found by */
  protected accepts({ model }: FoundModel, _id: string): boolean {
    return model === this.model;
  }

  /** The key of the row. */
  protected keyOf(id: string): string {
    return rowKey(id);
  }

  #key(id: string): StoredKey {
    return { model: this.model, id: this.keyOf(id), serverKey: this.server.key };
  }

  /** Predecessor of a rotated refresh token (protocol/storage/refresh-leeway.store.ts). */
  #predecessor({ writes }: RequestState): { readonly predecessor?: string } {
    const use = this.model === 'RefreshToken' ? writes.uses.find(({ model }) => model === 'RefreshToken') : undefined;
    return use === undefined ? {} : { predecessor: use.id };
  }

  /** The payload for oidc-provider. */
  protected present(id: string, found: FoundModel, isConsumed: boolean): AdapterPayload {
    const payload: AdapterPayload = Object.assign({}, found.payload, { jti: id, exp: Math.floor(found.expiresAt) });
    if (this.model === 'Interaction')
      payload.returnTo = `${this.server.issuer}/${payload.deviceCode === undefined ? 'authorize' : 'device'}/${id}`;
    if (found.consumedAt !== undefined && isConsumed) payload.consumed = Math.floor(found.consumedAt);
    return payload;
  }
}

/** Organization that the user signed in for; the same for all tokens of a grant. */
export function keptOrganization({ organizations }: RequestState, grantId: string | undefined): { readonly orgId?: string } {
  const orgId = grantId === undefined ? undefined : organizations.get(grantId);
  return orgId === undefined ? {} : { orgId };
}

/**
 * Was a sign-in completed in a different browser than the one that continues? Otherwise an attacker who plants the cookie of their own
 * interaction in a victim's browser, as a page of a sibling domain can, could sign the victim in as themselves (session fixation).
 */
function isOfAnotherBrowser({ model, payload }: FoundModel, request: RequestState | undefined): boolean {
  const { login } = (payload.result ?? {}) as { readonly login?: { readonly deviceId?: unknown } };
  return model === 'Interaction' && request !== undefined && login?.deviceId !== undefined && login.deviceId !== request.deviceId;
}

/** Keeps the token's user and grant for the library's next lookups. */
function remember(request: RequestState, { payload, account, expiresAt, organizationPolicy }: FoundModel): void {
  if (account !== undefined) request.accounts.set(account.id, account);
  const { grantId, accountId, clientId, scope, claims } = payload;
  request.deviceId = text(payload.deviceId) ?? request.deviceId;
  if (typeof grantId !== 'string' || typeof accountId !== 'string' || typeof clientId !== 'string') return;
  if (typeof payload.orgId === 'string') request.organizations.set(grantId, payload.orgId);
  if (organizationPolicy !== null) request.organizationPolicies.set(grantId, organizationPolicy);
  const requested = Object.values((claims ?? {}) as Record<string, Record<string, unknown>>).flatMap((names) => Object.keys(names));
  request.grants.set(grantId, { accountId, clientId, scope: text(scope) ?? '', claims: requested, exp: Math.floor(expiresAt) });
}

/** Grants: derived from the token that was read in the same request. Saving one writes nothing. */
export class GrantAdapter extends NoAdapter {
  constructor(readonly server: ServerState) {
    super();
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const grant = currentRequest()?.grants.get(id);
    if (grant === undefined) return undefined;
    const { accountId, clientId, scope, claims, exp } = grant;
    return { kind: 'Grant', jti: id, accountId, clientId, exp, openid: { scope, claims: [...claims] } };
  }

  override async destroy(id: string): Promise<void> {
    await this.server.write((request) => request.endedGrants.add(id));
  }
}

/** Does this model have rows of its own? */
export const isStored = (name: string): name is ModelName => name in MODELS;
