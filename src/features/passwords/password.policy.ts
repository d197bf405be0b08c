/**
 * Password rules (NIST SP 800-63B section 3.1.1.2): long enough, not common, not derived from the user's or the service's name, not used recently. No
 * composition rules: they do not improve passwords. Also decides when a password has expired.
 */

export interface PasswordPolicy {
  /** Characters (code points) at least. */
  readonly minLength: number;
  /** Number of the user's passwords, including the current one, that cannot be chosen again; 0: all can. */
  readonly historyCount: number;
  /** Days after which another password must be chosen; null: never, as NIST recommends. */
  readonly maxAgeDays: number | null;
  /** Are new passwords compared with those of data breaches? */
  readonly breached: BreachedPolicy;
  /** URL of the range server, to which five digits are appended; null: Pwned Passwords. */
  readonly breachedRangeUrl: string | null;
}

export const BREACHED_POLICIES = ['OFF', 'RANGE_API'] as const;
export type BreachedPolicy = (typeof BREACHED_POLICIES)[number];

/** Stored instead of a hash: another system has the password, and an inline hook verifies it at sign-in. */
export const PASSWORD_ELSEWHERE = '$hook$';

/** Limits the cost of hashing. */
export const MOST_CHARACTERS = 1024;

/** Limits the stored hashes, and so the cost of a comparison. */
export const LONGEST_HISTORY = 24;

/** Shorter names occur in too many ordinary words. */
const SHORTEST_NAME = 4;

/** The context of a password's validation, except length and history. */
export interface PasswordContext {
  /** Login, e-mail addresses and names of the user. */
  readonly userNames: readonly string[];
  /** Names of the service. */
  readonly serviceNames: readonly string[];
  /** @param candidate as `foldPassword` writes it */
  isCommon(candidate: string): boolean;
}

export type PasswordProblem = 'too-short' | 'too-long' | 'common' | 'like-user' | 'like-service' | 'used-before' | 'breached';

/** Problem with a new password, without history and breaches; undefined: none. */
export function passwordProblem(
  { minLength }: Pick<PasswordPolicy, 'minLength'>,
  password: string,
  { userNames, serviceNames, isCommon }: PasswordContext,
): Exclude<PasswordProblem, 'used-before' | 'breached'> | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < minLength) return 'too-short';
  if (length > MOST_CHARACTERS) return 'too-long';
  const folded = foldPassword(password);
  if (isCommon(folded) || isCommon(withoutTrivialEnding(folded))) return 'common';
  const [ofUser, ofService] = [wordsOf(userNames), wordsOf(serviceNames)];
  const letters = lettersAndDigits(folded);
  const isTooShortWithout = (words: readonly string[]) => {
    const rest = words.reduce((text, word) => text.replaceAll(word, ' '), letters);
    return rest !== letters && [...rest.replaceAll(' ', '')].length < minLength;
  };
  if (isTooShortWithout(ofUser)) return 'like-user';
  if (isTooShortWithout(ofService)) return 'like-service';
  return isTooShortWithout([...ofUser, ...ofService]) ? 'like-user' : undefined;
}

/** The form in which passwords are compared with common ones, regardless of composition and case. */
export const foldPassword = (password: string): string => password.normalize('NFKC').toLowerCase();

/** `password2026!` is no better than `password`. Only after a letter: a long number is not a word with an ending. */
const withoutTrivialEnding = (folded: string): string => folded.replace(/(?<=\p{L})[\p{N}\p{P}\p{S}]{1,4}$/u, '');

const lettersAndDigits = (folded: string): string => folded.replace(/[^\p{L}\p{M}\p{N}]/gu, '');

/** Each name as a whole, and its words (of an address those before the @); longest first, because one may contain the other. */
function wordsOf(names: readonly string[]): readonly string[] {
  const parts = names.flatMap((name) => {
    const folded = foldPassword(name);
    return [folded, ...folded.replace(/@[^@]*$/, '').split(/[^\p{L}\p{M}\p{N}]/u), folded.replace(/@[^@]*$/, '')];
  });
  const words = new Set(parts.map(lettersAndDigits).filter((word) => [...word].length >= SHORTEST_NAME));
  return [...words].sort((a, b) => b.length - a.length);
}

/**
 * Does a range contain this digest?
 * @param range lines of the end of a digest, a colon, and the count; 0: padding
 * @param end of the digest, hexadecimal in upper case
 */
export const rangeContains = (range: string, end: string): boolean =>
  range.split('\n').some((line) => {
    const [found = '', count = '0'] = line.trim().split(':');
    return found.toUpperCase() === end && Number(count) > 0;
  });

const DAY = 86_400_000;

/** @param changed when the password was chosen */
export const isTooOld = ({ maxAgeDays }: Pick<PasswordPolicy, 'maxAgeDays'>, changed: Date, now: Date): boolean =>
  maxAgeDays !== null && changed.getTime() + maxAgeDays * DAY <= now.getTime();
