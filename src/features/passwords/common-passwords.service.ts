/** The passwords that everybody tries first: some 49,000, from leaked ones, as the package `@zxcvbn-ts/language-common` brings them. Loaded once, when first asked for. */
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
