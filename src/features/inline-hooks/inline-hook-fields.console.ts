/** The form of an inline hook: its fields, and conversion to service input. */

import { type Field, typedValues } from '../../pages/console/form.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { channelFields, channelIn } from '../event-hooks/fields.console.ts';
import { INLINE_HOOK_TYPES, type InlineHook, type InlineHookType, PASSWORD_IMPORT } from './inline-hooks.resource.ts';
import { type InlineHookInput, inlineHookBody, inlineHookInput } from './inline-hooks.service.ts';

export const TYPES: Readonly<Record<InlineHookType, string>> = {
  'com.okta.oauth2.tokens.transform': 'Change tokens',
  'com.okta.user.pre-registration': 'Check sign-ups',
  'com.okta.user.credential.password.import': 'Verify passwords of another system',
};

const HINTS: Readonly<Record<InlineHookType, string>> = {
  'com.okta.oauth2.tokens.transform': 'Adds, changes and removes claims before tokens are issued. Rules of access policies name the hook.',
  'com.okta.user.pre-registration': 'Refuses a sign-up or changes its profile before the account is created.',
  'com.okta.user.credential.password.import':
    'Called at the first sign-in of users that were created without their password. A correct password is then stored here.',
};

export const FAILURES = { OPEN: 'Continue without the hook', CLOSED: 'Refuse' } as const;

const ASKED =
  'Requests are posted to it while somebody waits. It must be https, or http on this machine. Addresses of this machine and of private networks are called only if the service runs with ALLOW_PRIVATE_NETWORK=true.';

/** @param hook absent: a new one */
export function inlineHookFormFields(hook?: InlineHook): readonly Field[] {
  const type: Field = {
    name: 'type',
    label: 'Type',
    kind: 'radios',
    value: INLINE_HOOK_TYPES[0],
    options: INLINE_HOOK_TYPES.map((value) => ({ value, label: TYPES[value], hint: HINTS[value] })),
  };
  const failure: Field = {
    name: 'failure',
    label: 'If the hook fails',
    kind: 'radios',
    value: hook?.failure ?? 'CLOSED',
    hint: 'Applies if the hook cannot be reached, takes longer than three seconds or gives an invalid response.',
    options: [
      { value: 'OPEN', label: FAILURES.OPEN, hint: 'Tokens are issued unchanged, sign-ups are carried out.' },
      { value: 'CLOSED', label: FAILURES.CLOSED, hint: 'No token is issued, no account is created. Always so for passwords.' },
    ],
  };
  const [uri, ...headers] = channelFields(
    hook?.channel,
    hook === undefined ? ASKED : 'If the host changes, enter every header value again.',
  );
  return [
    { name: 'name', label: 'Name', required: true, value: hook?.name },
    uri,
    ...(hook === undefined ? [type] : []),
    ...(hook?.type === PASSWORD_IMPORT ? [] : [failure]),
    ...headers,
  ];
}

/** Parses the form. @param hook absent: a new one @throws {ApiError} validation */
export function inlineHookIn(form: URLSearchParams, hook?: InlineHook): InlineHookInput {
  const typed = typedValues(inlineHookFormFields(hook), form);
  const type = hook?.type ?? typed.type;
  const failure = type === PASSWORD_IMPORT ? 'CLOSED' : typed.failure;
  return inlineHookInput(parse(inlineHookBody, { name: typed.name, type, failure, channel: channelIn(typed, form) }));
}
