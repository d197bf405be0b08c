/** Inline hooks: the fields of a record. */
import type { HookChannel, SigningSecrets } from '../event-hooks/event-hooks.resource.ts';

/** Types of inline hooks, named as in Okta's Inline Hooks API. */
export const INLINE_HOOK_TYPES = [
  'com.okta.oauth2.tokens.transform',
  'com.okta.user.pre-registration',
  'com.okta.user.credential.password.import',
] as const;
export type InlineHookType = (typeof INLINE_HOOK_TYPES)[number];

export const TOKENS_TRANSFORM = INLINE_HOOK_TYPES[0];
export const PRE_REGISTRATION = INLINE_HOOK_TYPES[1];
export const PASSWORD_IMPORT = INLINE_HOOK_TYPES[2];

/** Effect of a failed hook: OPEN continues without the hook, CLOSED refuses. */
export type HookFailure = 'OPEN' | 'CLOSED';

export interface InlineHook extends SigningSecrets {
  /** Unique. */
  readonly name: string;
  readonly type: InlineHookType;
  readonly failure: HookFailure;
  readonly status: 'ACTIVE' | 'INACTIVE';
  readonly channel: HookChannel;
  readonly createdBy: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}

export const MUST_BE_CLOSED = `must be CLOSED for ${PASSWORD_IMPORT}, because nothing else can verify the password`;
