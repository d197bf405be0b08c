/** What stands in place of a password's hash. */

/** Another system knows the password, and an inline hook asks it at the sign-in. */
export const PASSWORD_ELSEWHERE = '$hook$';
