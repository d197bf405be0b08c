/**
 * oidc-provider's clients, created from applications. They are cached for a few seconds; changes invalidate them immediately (NOTIFY). An
 * inactive application is not a client. A client whose ID is a URL is created from its metadata document in the same way.
 */
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { consentMethodOf, type Profile, TLS_SUBJECTS } from '../../features/applications/application-settings.policy.ts';
import type { Application } from '../../features/applications/applications.resource.ts';
import { findApplicationById, findApplicationWithSecrets } from '../../features/applications/applications.store.ts';
import { FAPI2_ALGS, fapi2Refusal, fapi2SigningAlg, profileInForce } from '../../features/applications/fapi2.policy.ts';
import { applicationSecretContext } from '../../features/applications/sealed-secrets.service.ts';
import { encryptedAlg, RESPONSE_KINDS, RESPONSE_SETTINGS, signedAlg } from '../../features/applications/settings/algorithms.policy.ts';
import type { SigningAlg } from '../../features/authorization-servers/signing-keys.policy.ts';
import { ClientDocumentRefused } from '../../features/client-documents/client-document.service.ts';
import type { ClientDocuments, Requester } from '../../features/client-documents/client-documents.service.ts';
import { acceptsClientId, type ClientIdMetadataSettings, isClientIdUrl } from '../../features/client-documents/client-id.policy.ts';
import { CIBA_GRANT } from '../../features/policies/access-policy.policy.ts';
import { isAcceptedAt } from '../../features/registration/registration.policy.ts';
import { sectorOf } from '../../features/subjects/pairwise.policy.ts';
import { atMost } from '../../platform/cache/cache.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { type AdapterPayload, errors, type KoaContextWithOIDC, Provider, type ResponseType } from '../library/oidc-provider.ts';
import { CLIENT_SETTINGS, type ClientSettings, clientSettings } from '../servers/client-settings.ts';
import { NoAdapter } from './no-adapter.ts';
import type { ServerState } from './server-state.ts';

const MOST_KEPT = 5000;
const MOST_DOCUMENT_CLIENTS = 500;
/** Requester of a document that a pending sign-in needs. */
const THIS_SERVICE: Requester = { network: 'this service' };
/** Creation time of URL client IDs, which are never reassigned. */
const EVER = new Date(0);

/** All clients of the service, shared by the servers of this process. */
export class ClientDirectory {
  /** Counts changes, so that a load that began before a change is not cached. */
  #changes = 0;
  readonly #kept = new LRUCache<string, { readonly metadata: AdapterPayload; readonly checkedAt: number }>(atMost(MOST_KEPT));

  /** Cache for clients with a metadata document, including unknown ones. Separate, because strangers determine their number. */
  readonly #rows = new LRUCache<string, { readonly row: Application | undefined; readonly checkedAt: number }>({
    ...atMost(MOST_DOCUMENT_CLIENTS),
  });
  /** Parsed metadata for each cached document or record. */
  readonly #byDocument = new WeakMap<object, AdapterPayload>();

  constructor(
    readonly database: Database,
    readonly keyring: Keyring,
    readonly documents: ClientDocuments,
  ) {}

  /** @returns the client's metadata; undefined: no active application of this ID */
  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!isPrintable(id)) return undefined;
    const kept = this.#kept.get(id);
    const checkedAt = performance.now();
    if (kept !== undefined && checkedAt - kept.checkedAt < timings.cache) return kept.metadata;
    const changes = this.#changes;
    const found = await this.#load(id);
    // Unchanged metadata must remain the same object, because every server has created its client from it.
    const metadata = isDeepStrictEqual(found, kept?.metadata) ? kept?.metadata : found;
    // Unknown IDs are not cached: an attacker could fill the cache.
    if (metadata === undefined) this.#kept.delete(id);
    else if (changes === this.#changes) this.#kept.set(id, { metadata, checkedAt });
    return metadata;
  }

  /**
   * A client with a metadata document. The document is fetched when a request starts something, e.g. a sign-in. Elsewhere, e.g. at
   * introspection, the stored application is used, so that tokens do not depend on the document's host.
   * @param id a client ID that is a URL
   * @param requester the request that starts something
   * @throws {ClientDocumentRefused}
   */
  async findByDocument(id: string, requester: Requester | undefined): Promise<AdapterPayload | undefined> {
    const found = await this.#rowOf(id);
    if (found !== undefined && (found.status !== 'ACTIVE' || found.origin !== 'INTRODUCED')) return undefined;
    const client = found !== undefined && requester === undefined ? found : await this.documents.find(id, requester ?? THIS_SERVICE);
    const known = this.#byDocument.get(client);
    // A URL always identifies the same client, even after its record was deleted and created again.
    const metadata = known ?? metadataOf({ ...client, origin: 'INTRODUCED', registeredAt: null, created: EVER }, []);
    this.#byDocument.set(client, metadata);
    return metadata;
  }

  async #rowOf(id: string): Promise<Application | undefined> {
    const kept = this.#rows.get(id);
    const checkedAt = performance.now();
    if (kept !== undefined && checkedAt - kept.checkedAt < timings.cache) return kept.row;
    const changes = this.#changes;
    const row = await findApplicationById(this.database.knex, id);
    if (changes === this.#changes) this.#rows.set(id, { row, checkedAt });
    return row;
  }

  forget(id: string): void {
    this.#changes += 1;
    this.#kept.delete(id);
    this.#rows.delete(id);
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#kept.clear();
    this.#rows.clear();
  }

  async #load(id: string): Promise<AdapterPayload | undefined> {
    const found = await findApplicationWithSecrets(this.database.knex, id);
    if (found === undefined || found.application.status !== 'ACTIVE') return undefined;
    const { application } = found;
    const secrets = found.sealedSecrets.map(({ id: secretId, sealed }) => ({
      id: secretId,
      value: this.keyring.open(sealed, applicationSecretContext(secretId)),
    }));
    return metadataOf(application, secrets);
  }
}

interface Secret {
  readonly id: string;
  readonly value: string;
}

/** The only place that creates client metadata from an application. @param secrets newest first */
function metadataOf(
  application: Pick<Application, 'id' | 'label' | 'settings' | 'origin' | 'registeredAt' | 'created'>,
  secrets: readonly Secret[],
): AdapterPayload {
  const [newest, ...older] = secrets;
  const settings = application.settings;
  const own: ClientSettings = {
    label: application.label,
    createdAt: Math.floor(application.created.getTime() / 1000),
    consentMethod: consentMethodOf(application),
    origin: application.origin,
    registeredAt: application.registeredAt,
    assignment: settings.assignment,
    pkceRequired: settings.pkce_required || settings.token_endpoint_auth_method === 'none',
    pushRequired: settings.require_pushed_authorization_requests ?? false,
    allowedOrigins: settings.allowed_origins,
    idTokenClaims: settings.id_token_claims,
    profile: settings.profile ?? undefined,
    breaksFapi2: fapi2Refusal(settings),
    signedRequestRequired: settings.require_signed_request_object ?? false,
    requestObjectAlg: settings.request_object_signing_alg,
    identityProviders: settings.identity_providers,
    brandColor: settings.brand_color,
    sector: sectorOf(settings),
    introspectAny: settings.introspect_any,
    managesSignals: settings.manage_signal_streams ?? false,
    mfaRequired: settings.mfa_required ?? false,
    registration: settings.registration ?? 'INHERIT',
    organization: settings.organization ?? 'OPTIONAL',
    // A public client registered as STATIC before this was forbidden rotates anyway.
    rotateRefreshTokens: settings.refresh_token.rotation_type === 'ROTATE' || settings.token_endpoint_auth_method === 'none',
    refreshTokenLeeway: settings.refresh_token.leeway,
    tokenExchangeAudiences: settings.token_exchange_audiences ?? [],
    idJagTargets: settings.id_jag_targets ?? [],
    authorizationDetailsTypes: settings.authorization_details_types ?? [],
    federated: settings.federated ?? [],
    newestSecretId: newest?.id,
    olderSecrets: older,
  };
  return {
    client_id: application.id,
    client_name: application.label,
    ...(newest === undefined || settings.token_endpoint_auth_method === 'none' ? {} : { client_secret: newest.value }),
    token_endpoint_auth_method: settings.token_endpoint_auth_method,
    // RFC 7591 has only these two; `browser` and `service` only select defaults.
    application_type: settings.application_type === 'native' ? 'native' : 'web',
    redirect_uris: settings.redirect_uris,
    post_logout_redirect_uris: settings.post_logout_redirect_uris,
    response_types: [...settings.response_types] as ResponseType[],
    grant_types: settings.grant_types,
    ...optional({
      // oidc-provider requires keys for private_key_jwt, even if tokens of other issuers are the only credential.
      jwks: settings.jwks ?? (settings.jwks_uri === undefined && settings.federated?.length ? { keys: [] } : undefined),
      jwks_uri: settings.jwks_uri,
      client_uri: settings.client_uri,
      logo_uri: settings.logo_uri,
      tos_uri: settings.tos_uri,
      policy_uri: settings.policy_uri,
      initiate_login_uri: settings.initiate_login_uri,
      backchannel_logout_uri: settings.backchannel_logout_uri,
      backchannel_logout_session_required: settings.backchannel_logout_session_required,
      // The library requires https, even for localhost, and never calls it: protocol/ciba/ping.ts does.
      backchannel_client_notification_endpoint: settings.backchannel_client_notification_endpoint?.replace(/^http:/, 'https:'),
      ...(settings.grant_types.includes(CIBA_GRANT) && {
        backchannel_token_delivery_mode: settings.backchannel_token_delivery_mode ?? 'poll',
      }),
      token_endpoint_auth_signing_alg: settings.token_endpoint_auth_signing_alg,
      dpop_bound_access_tokens: settings.dpop_bound_access_tokens,
      tls_client_certificate_bound_access_tokens: settings.tls_client_certificate_bound_access_tokens,
      ...Object.fromEntries(TLS_SUBJECTS.map((name) => [name, settings[name]])),
      ...Object.fromEntries(RESPONSE_SETTINGS.map((name) => [name, settings[name]])),
      subject_type: settings.subject_type,
      sector_identifier_uri: settings.sector_identifier_uri,
    }),
    [CLIENT_SETTINGS]: own,
  };
}

const optional = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Algorithms that a server offers its clients. */
export interface ServerOffer {
  readonly signingAlgs: ReadonlySet<string>;
  /** The server's default. */
  readonly signingAlg: SigningAlg;
  readonly grantTypes: ReadonlySet<string>;
  readonly serverId: string;
  readonly profile: Profile;
  readonly clientIdMetadata: ClientIdMetadataSettings;
}

/** How a client with a metadata document is looked up for a request. */
export interface ClientDocumentRules {
  /** @returns undefined where nothing starts: introspection, userinfo, revocation and logout */
  requesterOf(ctx: KoaContextWithOIDC): Requester | undefined;
  /** Records that a client was refused. */
  refused(ctx: KoaContextWithOIDC, id: string, refusal: ClientDocumentRefused): Promise<void>;
}

/**
 * The clients of one server. oidc-provider rejects a whole client if it registered something that the server lacks, so a missing algorithm
 * is replaced by the server's own, and unknown grant types are removed.
 */
export class ClientAdapter extends NoAdapter {
  /** Converted metadata, reused while the directory returns the same object. */
  readonly #seen = new WeakMap<AdapterPayload, AdapterPayload>();

  constructor(
    readonly server: ServerState,
    readonly directory: ClientDirectory,
    readonly offer: ServerOffer,
    readonly documentRules: ClientDocumentRules,
  ) {
    super();
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    return this.lookUp(id, Provider.ctx);
  }

  /** @param ctx the request that needs the client; undefined outside of one */
  async lookUp(id: string, ctx: KoaContextWithOIDC | undefined): Promise<AdapterPayload | undefined> {
    const metadata = isClientIdUrl(id) ? await this.#byDocument(id, ctx) : await this.server.read(() => this.directory.find(id));
    if (metadata === undefined || !isAcceptedAt(this.offer.serverId, clientSettings(metadata))) return undefined;
    const seen = this.#seen.get(metadata) ?? this.#present(metadata);
    this.#seen.set(metadata, seen);
    return seen;
  }

  /** @throws {errors.InvalidClient} the document is refused and the client starts something */
  async #byDocument(id: string, ctx: KoaContextWithOIDC | undefined): Promise<AdapterPayload | undefined> {
    if (!acceptsClientId(this.offer.clientIdMetadata, id)) return undefined;
    const requester = ctx && this.documentRules.requesterOf(ctx);
    try {
      return await this.server.read(() => this.directory.findByDocument(id, requester));
    } catch (error) {
      if (!(error instanceof ClientDocumentRefused)) throw error;
      if (ctx === undefined || requester === undefined) return undefined;
      await this.documentRules.refused(ctx, id, error);
      throw new errors.InvalidClient(`the client ID metadata document is refused: ${error.message}`, error.message);
    }
  }

  #present(metadata: AdapterPayload): AdapterPayload {
    const { grant_types: grantTypes = [], ...rest } = metadata;
    const isFapi2 = profileInForce(clientSettings(metadata).profile, this.offer.profile) === 'fapi2';
    const { signingAlgs, signingAlg } = this.offer;
    const isUsable = (alg: unknown): boolean => signingAlgs.has(String(alg)) && (!isFapi2 || FAPI2_ALGS.includes(String(alg)));
    const own = isFapi2 ? fapi2SigningAlg(signingAlg) : signingAlg;
    const signed = RESPONSE_KINDS.flatMap((kind) => {
      const registered = rest[signedAlg(kind)];
      // Userinfo is JSON unless the client requests a signature; the library signs what it encrypts.
      if (kind === 'userinfo' && registered === undefined && rest[encryptedAlg(kind)] === undefined) return [];
      return [[signedAlg(kind), isUsable(registered) ? registered : own]];
    });
    return {
      ...rest,
      ...Object.fromEntries(signed),
      grant_types: grantTypes.filter((type) => this.offer.grantTypes.has(type)),
    };
  }
}
