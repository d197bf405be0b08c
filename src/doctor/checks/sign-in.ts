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
    sentence: 'Where codes to phones are a second factor, a webhook sends them.',
    async run(ground) {
      const allowed = (await readSignIn(ground)).messageFactors.filter((name) => name === 'sms' || name === 'call');
      const { url } = (await read(ground, '/settings/telephony')) as { readonly url: string | null };
      must(
        allowed.length === 0 || url !== null,
        `messageFactors of settings/sign-in has ${allowed.join(' and ')}, and users with such a factor get no code: set url of settings/telephony, or take the kinds away`,
      );
    },
  },
  {
    id: 'sign-in.bots',
    sentence: 'Where people sign up themselves, programs are slowed down.',
    async run(ground) {
      const { enabled } = (await read(ground, '/settings/registration')) as { readonly enabled: boolean };
      const { signUp } = (await read(ground, '/settings/bots')) as { readonly signUp: string };
      must(!enabled || signUp !== 'OFF', 'signUp of settings/bots is OFF: set it to ADAPTIVE');
    },
  },
  {
    id: 'sign-in.passkey-offer',
    sentence: 'Where passkeys are offered after a sign-in or replace passwords, browsers can make them here.',
    async run(ground) {
      const { passkeyOffer, passwordOptional } = await readSignIn(ground);
      const { protocol, hostname } = new URL(ground.url);
      const host = hostname.replace(/^\[|\]$/g, '');
      const isPossible = isIP(host) === 0 && (protocol === 'https:' || isLoopbackHost(host));
      const isOffered = passkeyOffer || passwordOptional;
      must(
        !isOffered || isPossible,
        `browsers make passkeys for a name and by https, and not at ${ground.url}: change BASE_URL, or do not offer them`,
      );
    },
  },
]);
