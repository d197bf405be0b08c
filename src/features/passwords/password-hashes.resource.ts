/** Values stored instead of a password hash. */

/** Another system has the password, and an inline hook asks it at sign-in. */
export const PASSWORD_ELSEWHERE = '$hook$';
