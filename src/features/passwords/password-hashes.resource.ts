/** Values stored instead of a password hash. */

/** Another system knows the password, and an inline hook asks it at the sign-in. */
export const PASSWORD_ELSEWHERE = '$hook$';
