/**
 * Suppresses two warnings of oidc-provider that do not help an operator. The library prints the first when it is loaded, so app.ts imports
 * this file before it.
 */

const UNWANTED: readonly string[] = [
  // Node 20 works. The log recommends a newer version once (main.ts).
  'oidc-provider WARNING: Unsupported runtime.',
  // We read forms before the library does, on purpose (docs/explanation/library.md).
  'oidc-provider WARNING: already parsed request body detected',
];

const warn = console.warn.bind(console);
console.warn = (...words: unknown[]): void => {
  // On a terminal the line is coloured.
  const isUnwanted = UNWANTED.some((line) => String(words[0]).includes(line));
  if (!isUnwanted) warn(...words);
};
