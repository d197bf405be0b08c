/** Common passwords: about 49,000 from leaks, from the package `@zxcvbn-ts/language-common`. Loaded on first use. */
import { foldPassword } from './password.policy.ts';

let list: Promise<ReadonlySet<string>> | undefined;

export function commonPasswords(): Promise<ReadonlySet<string>> {
  list ??= load();
  return list;
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].map(foldPassword));
}
