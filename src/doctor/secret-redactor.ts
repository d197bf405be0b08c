/** Hides secrets in the doctor's output: fields with secret names, and values that the doctor received or created. */

/** Parameters, fields and claims with secret values. */
const SECRET_FIELDS = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'token',
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
  'password',
  'sessionToken',
  'stateToken',
  'request',
]);

/** Replaces a secret. */
const HIDDEN = '…';

/** @param value shown unless the field is secret, and shortened to fit into a line */
export function shown(field: string, value: string): string {
  if (SECRET_FIELDS.has(field) && value !== '') return HIDDEN;
  return value.length > 100 ? `${value.slice(0, 100)}${HIDDEN}` : value;
}

export class SecretRedactor {
  readonly #values = new Set<string>();

  /** Registers a secret. Short values are ignored, because they would match ordinary words. */
  add(value: string | undefined): void {
    if (value !== undefined && value.length >= 8) this.#values.add(value);
  }

  /** Hides registered secrets and JWTs (RFC 7519). */
  scrub(line: string): string {
    let scrubbed = line;
    for (const value of this.#values) {
      scrubbed = scrubbed.replaceAll(value, HIDDEN).replaceAll(encodeURIComponent(value), HIDDEN);
    }
    return scrubbed.replace(/\beyJ[\w-]{10,}(\.[\w-]*)+/g, HIDDEN);
  }
}
