/** `settings/bots`: where browsers must send a proof of work, so that mass requests become expensive. */

/** OFF: nowhere. ADAPTIVE: once a network has sent many requests. ALWAYS: on every page. */
export const BOT_MODES = ['OFF', 'ADAPTIVE', 'ALWAYS'] as const;
export type BotMode = (typeof BOT_MODES)[number];

/** Protected forms: sign-up, password reset, and sign-in after failures. */
export const BOT_PURPOSES = ['signUp', 'passwordReset', 'signIn'] as const;
export type BotPurpose = (typeof BOT_PURPOSES)[number];

export type BotSettings = Readonly<Record<BotPurpose, BotMode>>;

export const BOT_DEFAULTS: BotSettings = { signUp: 'ADAPTIVE', passwordReset: 'OFF', signIn: 'OFF' };

/**
 * Requests (for signIn: failures) of one network in 15 minutes that need no proof. Never zero, because browsers without scripts cannot compute one,
 * and their requests are verified by e-mail.
 */
export const LIMITS_WITHOUT_PROOF: Readonly<Record<BotPurpose, Readonly<Record<Exclude<BotMode, 'OFF'>, number>>>> = {
  signUp: { ADAPTIVE: 10, ALWAYS: 3 },
  passwordReset: { ADAPTIVE: 5, ALWAYS: 2 },
  signIn: { ADAPTIVE: 20, ALWAYS: 10 },
};
