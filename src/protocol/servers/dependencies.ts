/** Shared dependencies of all authorization servers of the process. */
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { ApplicationOrigin } from '../../features/applications/application-settings.policy.ts';
import type { ApplicationUses } from '../../features/applications/application-uses.service.ts';
import type { RefusedDocument, RefusedRequest, RejectedRequest } from '../../features/audit/refused-requests.service.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import type { TokenHookFacts, TokenHookOutcome } from '../../features/inline-hooks/token-hook.service.ts';
import type { ClientRegistration } from '../../features/registration/registration.service.ts';
import type { RequirementReason } from '../../features/second-factors/second-factor.policy.ts';
import type { PasswordCredentials, SignedInUser } from '../../features/sign-in/sign-in.service.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ClientCertificates } from '../../platform/http/client-certificate.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import type { UnauthenticatedRequests } from '../authorize/unauthenticated-requests.ts';
import type { IssuerKeys } from '../client-authentication/foreign-jwt.ts';
import type { WrongSecrets } from '../client-authentication/wrong-secrets.ts';
import type { ClientDirectory } from '../storage/client-adapter.ts';
import type { ProtocolPages } from './error-pages.ts';

/** Client and place of a rejected request. */
type Rejected = Omit<RejectedRequest, 'error' | 'description'>;

/** Counts wrong user codes by address: they are short enough to guess (RFC 8628 section 5.1). */
interface UserCodeFailures {
  /** Counts a code before the lookup. @returns seconds until codes from this address are accepted again; undefined: this one is accepted */
  count(req: IncomingMessage): Promise<number | undefined>;
  /** Removes the count of a correct code. */
  forget(req: IncomingMessage): Promise<void>;
}

export interface ProviderParts {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly database: Database;
  readonly clients: ClientDirectory;
  readonly pages: ProtocolPages;
  readonly log: Logger;
  /** HTTP client for URLs that applications have registered. */
  readonly outbound: Outbound;
  /** Public keys of applications and of issuers that administrators trust. */
  readonly issuerKeys: IssuerKeys;
  readonly certificates: ClientCertificates;
  readonly wrongSecrets: WrongSecrets;
  readonly uses: ApplicationUses;
  readonly unanswered: UnauthenticatedRequests;
  readonly userCodes: UserCodeFailures;
  /** Counts a sign-in request (CIBA). @param hint user @returns seconds until the application's requests are accepted again; undefined: now */
  countSignInRequest(clientId: string, hint: string): Promise<number | undefined>;
  /** Checks user name and password. @throws {TooManyFailures} */
  authenticate(credentials: PasswordCredentials, req: IncomingMessage): Promise<SignedInUser | undefined>;
  /** Records the sign-in of a user whom `authenticate` has returned. */
  noteSignIn(user: SignedInUser, applicationId: string, req: IncomingMessage): Promise<void>;
  /** Does the user need a second factor for the application, because they have one or because it is required? */
  needsSecondFactor(user: Pick<SignedInUser, 'id' | 'login'>, applicationId: string, req: IncomingMessage): Promise<boolean>;
  /** Is a second factor required of the user at the application, whether or not they have one? */
  isFactorRequiredByPolicy(userId: string, applicationId: string): Promise<boolean>;
  /** Does the user trust the browser, so that it satisfies this second-factor requirement? */
  isTrustedBrowser(ctx: Koa.Context, userId: string, demandedBy: RequirementReason): Promise<boolean>;
  /** Calls the hook of a rule before its tokens are issued, and records the call in the audit log. */
  runTokenHook(facts: TokenHookFacts, req: IncomingMessage): Promise<TokenHookOutcome>;
  /** Records a refusal with its decision in the audit log. */
  refuse(refusal: RefusedRequest, req: IncomingMessage): Promise<void>;
  /**
   * Records why a request failed: in its log line and, if the application is known, in the audit log.
   * @param rejected absent: the application is not known
   */
  reject(
    reason: { readonly error: string; readonly description: string },
    rejected: Rejected | undefined,
    req: IncomingMessage,
  ): Promise<void>;
  readonly registration: ClientRegistration;
  /** Records a sign-in for a client that no administrator created. A client with a metadata document is stored as an application. */
  noteUse(
    server: AuthorizationServer,
    client: { readonly id: string; readonly origin: ApplicationOrigin },
    req: IncomingMessage,
  ): Promise<void>;
  /** Records in the audit log that a client's document is refused. */
  refuseDocument(refused: RefusedDocument, req: IncomingMessage): Promise<void>;
  /** Ends the browser's session with an audit event: at the user's request, or because another sign-in replaces it. */
  endSession(session: { readonly uid: string; readonly userId: string }, req: IncomingMessage): Promise<void>;
  /** The sender of the request. */
  describe(req: IncomingMessage): { readonly ipAddress: string; readonly userAgent: string };
  /** The request ID that is shown to the outside. */
  requestId(req: IncomingMessage): string;
}
