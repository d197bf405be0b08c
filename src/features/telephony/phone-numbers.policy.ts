/** Phone numbers (ITU-T E.164): parsing, display, and which of them can get messages. */

/** @returns the number with `+` and its country code; undefined if the text is not a phone number */
export function readPhoneNumber(typed: string): string | undefined {
  const bare = typed
    .trim()
    .replaceAll(/[\s().\-/]/g, '')
    .replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(bare) ? bare : undefined;
}

/** @returns the last three digits, for display to users and administrators */
export const maskedNumber = (number: string): string => `••• ${number.slice(-3)}`;

/** Can a message be sent there? Messages to some countries are so expensive that fraud pays (toll fraud). @param prefixes of allowed numbers */
export const isAllowedNumber = (number: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => number.startsWith(prefix));
