/** Which passwords are good enough (NIST SP 800-63B section 3.1.1.2). Only their length counts: rules of composition make none better. */

export interface PasswordPolicy {
  /** Characters (code points) at least. */
  readonly minLength: number;
}

/** An end to what is hashed. */
export const MOST_CHARACTERS = 1024;

/** What is wrong with a password that somebody wants to have; undefined: nothing. */
export function passwordProblem({ minLength }: PasswordPolicy, password: string): 'too-short' | 'too-long' | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < minLength) return 'too-short';
  return length > MOST_CHARACTERS ? 'too-long' : undefined;
}
