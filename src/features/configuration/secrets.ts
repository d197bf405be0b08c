/** Secrets in a configuration file: only the name of an environment variable, `{ env: NAME }`. */
import { isDeepStrictEqual } from 'node:util';
import { StartFailure } from '../../cli/lifecycle.ts';
import { type Document, isDocument } from './difference.ts';

/** Names of fields that contain a secret. */
const SECRETS: readonly string[] = ['client_secret', 'password', 'authorizationHeader'];
/** Names of objects whose field `secret` is a secret; '': the document itself, as in `settings/telephony`. */
const WITH_SECRET: readonly string[] = ['auth', ''];
/** Names of objects whose field `value` is a secret: the headers of a hook. */
const WITH_SECRET_VALUE: readonly string[] = ['headers', 'authScheme'];

const isSecret = (name: string, within: string): boolean =>
  SECRETS.includes(name) || (name === 'secret' && WITH_SECRET.includes(within)) || (name === 'value' && WITH_SECRET_VALUE.includes(within));

const isReference = (value: unknown): value is { readonly env: string } =>
  isDocument(value) && typeof value.env === 'string' && Object.keys(value).length === 1;

type Replace = (reference: { readonly env: string }) => string | undefined;

function replaced(document: Document, replace: Replace, within = ''): Document {
  const inside = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => inside(name, one));
    return isDocument(value) ? replaced(value, replace, name) : value;
  };
  const entries = Object.entries(document).map(([name, value]): [string, unknown] => {
    if (!isSecret(name, within)) return [name, inside(name, value)];
    if (!isReference(value))
      throw new StartFailure(`A ${name} must not be in the file. Write { env: NAME } and set that environment variable.`);
    return [name, replace(value)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** @returns the document without secrets, because they cannot be compared @throws {StartFailure} a secret is in clear text */
export const withoutSecrets = (document: Document): Document => replaced(document, () => undefined);

export const holdsSecret = (document: Document): boolean => !isDeepStrictEqual(document, withoutSecrets(document));

/** Replaces the references by the values of the variables. @throws {StartFailure} a variable is not set */
export function withSecrets(document: Document, env: Readonly<Record<string, string | undefined>>): Document {
  return replaced(document, ({ env: name }) => {
    const value = env[name];
    if (value === undefined || value === '')
      throw new StartFailure(`The environment variable ${name} is not set. The file reads a secret from it.`);
    return value;
  });
}
