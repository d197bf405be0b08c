/** Phone numbers (ITU-T E.164): how they are read, shown, and which of them may get a message. */

/** @returns the number with `+` and its country code; undefined when it is none */
export function readPhoneNumber(typed: string): string | undefined {
  const bare = typed
    .trim()
    .replaceAll(/[\s().\-/]/g, '')
    .replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(bare) ? bare : undefined;
}

/** @returns the last three digits, as users and administrators are shown a number */
export const maskedNumber = (number: string): string => `••• ${number.slice(-3)}`;

/** May a message go there? To some countries a message costs as much as fraud pays (toll fraud). @param prefixes the beginnings of allowed numbers */
export const isAllowedNumber = (number: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => number.startsWith(prefix));
