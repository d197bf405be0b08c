/** User names and e-mail addresses that people and programs spell in several ways: one form is stored, and every form is found. */
import { domainToASCII, domainToUnicode } from 'node:url';

/** @returns the name with the domain as people write it, where it is an address whose domain is written in the ASCII of RFC 5890; other names as they are */
export const readableAddress = (name: string): string => withDomain(name, domainToUnicode, domainToASCII);

/** The reverse of `readableAddress`. */
export const asciiAddress = (name: string): string => withDomain(name, domainToASCII, domainToUnicode);

/** No other letter becomes one of ASCII: the Kelvin sign is no k. */
const inSmallLetters = (letter: string): string =>
  /[!-~]/.test(letter) === /[!-~]/.test(letter.toLowerCase()) ? letter.toLowerCase() : letter;

/** Only where the way back leads to the same domain: a domain that is no regular one stays as it is. */
function withDomain(name: string, convert: (domain: string) => string, back: (domain: string) => string): string {
  const at = name.lastIndexOf('@') + 1;
  const domain = name.slice(at).replace(/[A-Z]|[^!-~]/gu, inSmallLetters);
  if (at < 2 || !/xn--|[^!-~]/.test(domain)) return name;
  const converted = convert(domain);
  return converted !== '' && back(converted) === domain ? name.slice(0, at) + converted : name;
}

/**
 * Names are stored in the form of Unicode that keyboards compose, and typed in any. The same for the domain of an
 * address: stored as `bücher.example`, typed in that form or as `xn--bcher-kva.example`.
 */
export const composedName = (name: string): string => readableAddress(name.normalize('NFC'));

/** The forms in which a name can be stored, that of the given name first. Until 2026-11 a domain was stored as it was typed. */
export function spellingsOf(name: string): readonly string[] {
  const given = name.normalize('NFC');
  return [...new Set([given, readableAddress(given), asciiAddress(given)])];
}

/** @returns the name to store: the present one where only the spelling of the domain differs */
export const keepSpelling = <N extends string | null>(present: N, wanted: N): N =>
  present !== null && wanted === readableAddress(present) ? present : wanted;

/** ASCII letters only: the lower case of some other letters is in ASCII (that of the Kelvin sign is k), and could lead to another user's address. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Is it the same address, apart from the case of ASCII letters and the spelling of the domain? The database may ignore the case of other letters too. */
export const isSameAddress = (one: string | null, other: string): boolean =>
  one !== null && lowerAscii(readableAddress(one)) === lowerAscii(readableAddress(other));
