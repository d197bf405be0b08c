/** Second factors with codes sent to the user: types, authentication methods, and masked addresses. */

/** Types; `settings/sign-in.messageFactors` contains them in lower case. */
export const MESSAGE_TYPES = ['EMAIL', 'SMS', 'CALL'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Names as in the sign-in policy. */
export const MESSAGE_FACTORS = ['email', 'sms', 'call'] as const;
export type MessageFactorName = (typeof MESSAGE_FACTORS)[number];

export const policyNameOf = (type: MessageType): MessageFactorName => type.toLowerCase() as MessageFactorName;

export const typeOfPolicyName = (name: MessageFactorName): MessageType => name.toUpperCase() as MessageType;

/** RFC 8176 section 2. It has no value for e-mail. */
export const MESSAGE_METHODS: Readonly<Record<MessageType, readonly string[]>> = { EMAIL: ['otp'], SMS: ['sms'], CALL: ['tel'] };

/** @returns the address with only the first character of its local part */
export function maskedEmail(address: string): string {
  const at = address.lastIndexOf('@');
  return `${[...address.slice(0, at)][0] ?? ''}•••${address.slice(at)}`;
}

/** Masked recipient of a code. */
export const shownAddress = ({ type, sentTo }: { readonly type: MessageType; readonly sentTo: string }): string =>
  type === 'EMAIL' ? maskedEmail(sentTo) : sentTo;
