/** Do the ways to sign in and up that the settings offer have what they need? */
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../platform/config/config.ts';
import { must, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

interface SignInSettings {
  readonly messageFactors: readonly string[];
  readonly passkeyOffer: boolean;
  readonly passwordOptional: boolean;
}

const readSignIn = async (ground: CheckContext) => (await read(ground, '/settings/sign-in')) as SignInSettings;

export const signInChecks: readonly Rule<CheckContext>[] = section('Sign-in', [
  {
    id: 'sign-in.phone-codes',
    sentence: 'If codes by phone are a second factor, a webhook sends them.',
    async run(ground) {
      const allowed = (await readSignIn(ground)).messageFactors.filter((name) => name === 'sms' || name === 'call');
      const { url } = (await read(ground, '/settings/telephony')) as { readonly url: string | null };
      must(
        allowed.length === 0 || url !== null,
        `messageFactors of settings/sign-in has ${allowed.join(' and ')}, but nothing sends these codes: set url of settings/telephony, or remove the kinds`,
      );
    },
  },
  {
    id: 'sign-in.bots',
    sentence: 'If sign-up is on, automated sign-ups are slowed down.',
    async run(ground) {
      const { enabled } = (await read(ground, '/settings/registration')) as { readonly enabled: boolean };
      const { signUp } = (await read(ground, '/settings/bots')) as { readonly signUp: string };
      must(!enabled || signUp !== 'OFF', 'signUp of settings/bots is OFF: set it to ADAPTIVE');
    },
  },
  {
    id: 'sign-in.passkey-offer',
    sentence: 'If passkeys are offered or replace passwords, browsers can create them for this address.',
    async run(ground) {
      const { passkeyOffer, passwordOptional } = await readSignIn(ground);
      const { protocol, hostname } = new URL(ground.url);
      const host = hostname.replace(/^\[|\]$/g, '');
      const isPossible = isIP(host) === 0 && (protocol === 'https:' || isLoopbackHost(host));
      const isOffered = passkeyOffer || passwordOptional;
      must(
        !isOffered || isPossible,
        `browsers create passkeys only for host names with https, so not for ${ground.url}: change BASE_URL, or stop offering passkeys`,
      );
    },
  },
]);
