/** Decides whether an authorization server admits clients that nobody registered: by its settings and its access policies. */
import type { ClientIdMetadataSettings } from '../client-documents/client-id.policy.ts';
import { type AccessGrantType, type AccessPolicy, decideAccess, type TokenLifetimes } from '../policies/access-policy.policy.ts';
import type { RegistrationSettings } from '../registration/registration.policy.ts';

/** The one grant of such clients. */
export const CODE_GRANT: AccessGrantType = 'authorization_code';

/** Stands for every client that no policy names. */
const UNKNOWN_CLIENT = 'https://client.invalid/';
/** Represents every user without a policy. */
const UNKNOWN_USER = 'usr_unknown';

interface Rules {
  readonly server: TokenLifetimes;
  /** Those in force. */
  readonly policies: readonly AccessPolicy[];
}

/** Do the access policies let a user of these groups get these scopes for a client that they do not name? */
export const admitsUnknownClients = ({ server, policies }: Rules, scopes: readonly string[], groupIds: readonly string[]): boolean =>
  decideAccess(policies, { clientId: UNKNOWN_CLIENT, user: { id: UNKNOWN_USER, groupIds }, grantType: CODE_GRANT, scopes }, server).allowed;

interface ClientSettings {
  readonly clientIdMetadata: ClientIdMetadataSettings;
  readonly registration: RegistrationSettings;
}

/** Is there a way in for a client that nobody here has made? */
export const acceptsUnknownClients = ({ clientIdMetadata, registration }: ClientSettings): boolean =>
  clientIdMetadata.enabled || registration.mode !== 'OFF';
