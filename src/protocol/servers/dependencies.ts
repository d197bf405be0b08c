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
import type { DemandReason } from '../../features/second-factors/second-factor.policy.ts';
import type { PasswordCredentials, SignedInUser } from '../../features/sign-in/sign-in.service.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ClientCertificates } from '../../platform/http/client-certificate.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import type { UnansweredRequests } from '../authorize/unauthenticated-requests.ts';
import type { IssuerKeys } from '../client-authentication/foreign-jwt.ts';
import type { WrongSecrets } from '../client-authentication/wrong-secrets.ts';
import type { ClientDirectory } from '../storage/client-adapter.ts';
import type { ProtocolPages } from './error-pages.ts';

/** Client and place of a rejected request. */
type Rejected = Omit<RejectedRequest, 'error' | 'description'>;

/** Counts wrong user codes by address: they are short enough to be guessed at otherwise (RFC 8628 section 5.1). */
interface UserCodeFailures {
  /** Counts a code before the lookup. @returns seconds until codes from there are accepted again; undefined: this one is */
  count(req: IncomingMessage): Promise<number | undefined>;
  /** It was a right one. */
  forget(req: IncomingMessage): Promise<void>;
}

export interface ProviderParts {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly database: Database;
  readonly clients: ClientDirectory;
  readonly pages: ProtocolPages;
  readonly log: Logger;
  /** For addresses that applications have registered. */
  readonly outbound: Outbound;
  /** Public keys of applications and of issuers that administrators trust. */
  readonly issuerKeys: IssuerKeys;
  readonly certificates: ClientCertificates;
  readonly wrongSecrets: WrongSecrets;
  readonly uses: ApplicationUses;
  readonly unanswered: UnansweredRequests;
  readonly userCodes: UserCodeFailures;
  /** Counts a sign-in request (CIBA). @param hint user @returns seconds until the application's requests are accepted again; undefined: now */
  countSignInRequest(clientId: string, hint: string): Promise<number | undefined>;
  /** Checks user name and password. @throws {TooManyFailures} */
  authenticate(credentials: PasswordCredentials, req: IncomingMessage): Promise<SignedInUser | undefined>;
  /** Notes the sign-in of a user who was let in by what `authenticate` has found. */
  noteSignIn(user: SignedInUser, applicationId: string, req: IncomingMessage): Promise<void>;
  /** Does the user need a second factor for the application, because they have one or because it is required? */
  needsSecondFactor(user: Pick<SignedInUser, 'id' | 'login'>, applicationId: string, req: IncomingMessage): Promise<boolean>;
  /** Is a second factor demanded of the user at the application, whether they have one or not? */
  demandsSecondFactor(userId: string, applicationId: string): Promise<boolean>;
  /** Does the user trust the browser that asks, so that this demand of a second factor is met there? */
  isTrustedBrowser(ctx: Koa.Context, userId: string, demandedBy: DemandReason): Promise<boolean>;
  /** Asks the hook of a rule before its tokens are issued, and notes it in the audit log. */
  runTokenHook(facts: TokenHookFacts, req: IncomingMessage): Promise<TokenHookOutcome>;
  /** Notes a refusal in the audit log, with what decided. */
  refuse(refusal: RefusedRequest, req: IncomingMessage): Promise<void>;
  /**
   * Notes why a request is answered with an error: in the request's line of the log, and of a known application in the audit log.
   * @param rejected absent: the application is not known
   */
  reject(
    reason: { readonly error: string; readonly description: string },
    rejected: Rejected | undefined,
    req: IncomingMessage,
  ): Promise<void>;
  readonly registration: ClientRegistration;
  /** Notes that a user has signed in for a client that no administrator has made. One that introduced itself is written down as an application. */
  noteUse(
    server: AuthorizationServer,
    client: { readonly id: string; readonly origin: ApplicationOrigin },
    req: IncomingMessage,
  ): Promise<void>;
  /** Notes in the audit log that the document of a client is refused. */
  refuseDocument(refused: RefusedDocument, req: IncomingMessage): Promise<void>;
  /** Ends the browser's session, with the audit event: at its user's wish, or because another sign-in takes its place. */
  endSession(session: { readonly uid: string; readonly userId: string }, req: IncomingMessage): Promise<void>;
  /** The sender of the request. */
  describe(req: IncomingMessage): { readonly ipAddress: string; readonly userAgent: string };
  /** The id that the outside knows a request by. */
  requestId(req: IncomingMessage): string;
}
