/** Spellings of user names and e-mail addresses. One spelling is stored, and all of them find the user. */
import { domainToASCII, domainToUnicode } from 'node:url';

/** @returns the address with its domain in Unicode if it is in Punycode (RFC 5890); other names unchanged */
export const readableAddress = (name: string): string => withDomain(name, domainToUnicode, domainToASCII);

/** The reverse of `readableAddress`: the domain in Punycode. */
export const asciiAddress = (name: string): string => withDomain(name, domainToASCII, domainToUnicode);

/** Does not turn other letters into ASCII: the Kelvin sign does not become a `k`. */
const lowerCased = (letter: string): string =>
  /[!-~]/.test(letter) === /[!-~]/.test(letter.toLowerCase()) ? letter.toLowerCase() : letter;

/** Converts the domain if `back` restores it. Invalid domains stay unchanged. */
function withDomain(name: string, convert: (domain: string) => string, back: (domain: string) => string): string {
  const at = name.lastIndexOf('@') + 1;
  const domain = name.slice(at).replace(/[A-Z]|[^!-~]/gu, lowerCased);
  if (at < 2 || !/xn--|[^!-~]/.test(domain)) return name;
  const converted = convert(domain);
  return converted !== '' && back(converted) === domain ? name.slice(0, at) + converted : name;
}

/**
 * The spelling that is stored: composed Unicode (NFC), and the domain of an address in Unicode. Users can type any other, such as
 * `xn--bcher-kva.example` for `bücher.example`.
 */
export const composedName = (name: string): string => readableAddress(name.normalize('NFC'));

/** The spellings in which a name can be stored, the given one first: earlier versions stored domains as typed. */
export function spellingsOf(name: string): readonly string[] {
  const given = name.normalize('NFC');
  return [...new Set([given, readableAddress(given), asciiAddress(given)])];
}

/** @returns the name to store: the present one if only the spelling of the domain differs */
export const keepSpelling = <N extends string | null>(present: N, wanted: N): N =>
  present !== null && wanted === readableAddress(present) ? present : wanted;

/**
 * Lower-cases ASCII letters only: the lower case of some other letters is ASCII (that of the Kelvin sign is k), and could match another
 * user's address.
 */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Is it the same address, apart from the case of ASCII letters and the spelling of the domain? The database may ignore the case of other letters too. */
export const isSameAddress = (one: string | null, other: string): boolean =>
  one !== null && lowerAscii(readableAddress(one)) === lowerAscii(readableAddress(other));
