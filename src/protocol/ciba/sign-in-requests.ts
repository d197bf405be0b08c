/**
 * Client-initiated backchannel authentication (OpenID Connect CIBA Core 1.0), modes poll and ping. A confidential application sends a
 * request to backchannel-authentication. The user gets an e-mail and answers at /account/requests, on the server's page that confirms
 * devices (protocol/device/device-flow.ts). So sign-in, second factor, policies and consent are the same as in a browser.
 */
import { decodeJwt } from 'jose';
import { signInRequestNote, userNamedBy } from '../../features/backchannel-requests/request-mails.service.ts';
import { type Configuration, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { InvalidBindingMessage, TooManySignInRequests } from '../servers/errors.ts';
import { requestStateOf } from '../storage/request-state.ts';
import { rowKey } from '../storage/row-keys.ts';
import { UNKNOWN_USER } from '../storage/sign-in-request-adapter.ts';
import { POLLING_INTERVAL } from '../token/polling.ts';
import type { Subjects } from '../token/subjects.ts';

type Ciba = NonNullable<NonNullable<Configuration['features']>['ciba']>;
type FindAccount = NonNullable<Configuration['findAccount']>;

const ROUTE = 'backchannel_authentication';

/** One short line that cannot be mistaken for other text: letters, digits, marks, spaces and common punctuation (section 7.1). */
const MESSAGE = /^[\p{L}\p{M}\p{N} .,:;!?+*#%&()'’"€$£¥_=-]{1,100}$/u;

interface CibaParts extends Pick<ProviderParts, 'database' | 'countSignInRequest'> {
  readonly serverId: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Not verified yet. If the token turns out to be forged, no e-mail is sent. */
function subjectOf(idToken: string): string {
  try {
    return decodeJwt(idToken).sub ?? '';
  } catch {
    return '';
  }
}

/** The library's feature. Hints are counted whether or not the user exists. */
export function cibaFeature({ database, countSignInRequest, serverId }: CibaParts): Ciba {
  return {
    enabled: true,
    deliveryModes: ['poll', 'ping'],

    /** @throws {errors.InvalidRequest} a feature that is not supported @throws {TooManySignInRequests} */
    async validateRequestContext(ctx) {
      const { client, params } = ctx.oidc;
      for (const name of ['login_hint_token', 'user_code'])
        if (params?.[name] !== undefined) throw new errors.InvalidRequest(`the parameter ${name} is not supported`);
      const seconds = await countSignInRequest(client?.clientId ?? '', text(params?.login_hint) || subjectOf(text(params?.id_token_hint)));
      if (seconds === undefined) return;
      ctx.set('Retry-After', String(seconds));
      throw new TooManySignInRequests();
    },

    async validateBindingMessage(_ctx, message) {
      if (message !== undefined && !MESSAGE.test(message))
        throw new InvalidBindingMessage(
          'binding_message must be 1 to 100 letters, digits, spaces and common punctuation marks, in one line',
        );
    },

    /**
     * A user name or e-mail address. An unknown one is not an error (section 13 leaves this to the server): applications must not learn which users
     * exist.
     */
    async processLoginHint(_ctx, hint = '') {
      return (await userNamedBy(database, hint)) ?? UNKNOWN_USER;
    },

    /** Never called: the parameter is refused before. */
    async processLoginHintToken() {
      return undefined;
    },

    /** The last step before the request is stored: the user name becomes the hint for the sign-in page. */
    async verifyUserCode(ctx, account) {
      const known = requestStateOf(ctx)?.accounts.get(account.accountId);
      if (ctx.oidc.params !== undefined && known !== undefined) ctx.oidc.params.login_hint = known.login;
    },

    async triggerAuthenticationDevice(ctx, request, account, client) {
      Object.assign(ctx.body as object, { interval: POLLING_INTERVAL });
      const userId = account.accountId === UNKNOWN_USER ? null : account.accountId;
      // Also for unknown users, so that both cases take the same time.
      const named = {
        userId,
        clientId: client.clientId,
        application: clientSettings(client).label,
        serverId,
        requestId: rowKey(request.jti),
      };
      requestStateOf(ctx)?.writes.notes.push(signInRequestNote(named));
    },
  };
}

/**
 * An account always exists for these requests: a dummy replaces users who do not exist, are inactive or have no access to the application.
 * @param isAssigned called for applications that require an assignment
 */
export const orDummyAccount =
  (find: FindAccount, isAssigned: (applicationId: string, userId: string) => Promise<boolean>, subjects: Subjects): FindAccount =>
  async (ctx, sub, token) => {
    if (ctx.oidc.route !== ROUTE) return find(ctx, sub, token);
    const userId = sub === UNKNOWN_USER ? undefined : await userOf(ctx, sub, subjects);
    const account = userId === undefined ? undefined : await find(ctx, userId, token);
    return account !== undefined && (await isOpenTo(ctx, account.accountId, isAssigned)) ? account : NO_ACCOUNT;
  };

/** An ID token contains the client's subject for the user. */
async function userOf({ oidc: { client, params } }: KoaContextWithOIDC, sub: string, subjects: Subjects): Promise<string | undefined> {
  return client === undefined || params?.id_token_hint === undefined ? sub : subjects.userOf(client, sub);
}

const NO_ACCOUNT = { accountId: UNKNOWN_USER, claims: async () => ({ sub: UNKNOWN_USER }) };

async function isOpenTo(
  { oidc: { client } }: KoaContextWithOIDC,
  userId: string,
  isAssigned: (applicationId: string, userId: string) => Promise<boolean>,
): Promise<boolean> {
  return client === undefined || clientSettings(client).assignment === 'EVERYONE' || isAssigned(client.clientId, userId);
}
