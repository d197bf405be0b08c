/** Schemas of inline hook fields. */
import { z } from 'zod';
import { text } from '../../platform/validation/text.ts';
import { givenChannel, hookChannel } from '../event-hooks/hook-channel.service.ts';
import {
  type HookFailure,
  INLINE_HOOK_TYPES,
  type InlineHookType,
  MUST_BE_CLOSED,
  PASSWORD_IMPORT,
  TOKENS_TRANSFORM,
} from './inline-hooks.resource.ts';

/** Like Okta: tokens are issued unchanged, a registration is refused, a password counts as wrong. */
const defaultFailure = (type: InlineHookType): HookFailure => (type === TOKENS_TRANSFORM ? 'OPEN' : 'CLOSED');

const inlineHookFields = {
  name: text({ least: 1 }),
  type: z.enum(INLINE_HOOK_TYPES),
  version: z.enum(['1.0.0', '1.0.1', '1.0.2', '1.0.3']).exactOptional(),
  failure: z.enum(['OPEN', 'CLOSED']).exactOptional().meta({
    description:
      'What happens when the hook cannot be reached or answers wrongly. OPEN: go on without it; CLOSED: refuse. Absent: OPEN for tokens.transform, CLOSED for the others',
  }),
  channel: hookChannel,
};

export const inlineHookBody = z
  .strictObject(inlineHookFields)
  .refine(({ type, failure }) => type !== PASSWORD_IMPORT || failure !== 'OPEN', {
    path: ['failure'],
    message: MUST_BE_CLOSED,
  });

/** The body of a change. What Okta's has no field for stays where it is absent. */
export const inlineHookChange = z.strictObject({ ...inlineHookFields, type: inlineHookFields.type.exactOptional() });

export const inlineHookChangeInput = ({ name, type, failure, channel }: z.output<typeof inlineHookChange>) => ({
  ...{ name, type, failure },
  ...givenChannel(channel),
});

/** A body as the service takes it. */
export const inlineHookInput = ({ name, type, failure, channel }: z.output<typeof inlineHookBody>) => ({
  name,
  type,
  failure: failure ?? defaultFailure(type),
  ...givenChannel(channel),
});
