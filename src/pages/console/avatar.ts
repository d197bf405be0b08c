/** Initials instead of a user's picture. */

/** @param name a full name, a user name or an e-mail address @returns one or two capital letters */
export function initialsOf(name: string): string {
  const words = name.split('@', 1)[0]?.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first = '?', last] = words.length > 1 ? [words[0], words.at(-1)] : words;
  return [first, last ?? '']
    .map((word) => [...word][0] ?? '')
    .join('')
    .toLocaleUpperCase('en');
}
