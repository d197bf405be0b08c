/** The texts of the hosted pages in English, the language that the others translate. `{name}` is a placeholder. */
export const en = {
  'languages.label': 'Language',

  'error.title-prefix': 'Error: {title}',
  'error.summary': 'There is a problem',

  'sign-in.title': 'Sign in',
  'sign-in.to-application': 'to continue to {application}',
  'sign-in.username': 'User name or e-mail address',
  'sign-in.password': 'Password',
  'sign-in.show-password': 'Show',
  'sign-in.show-password-label': 'Show password',
  'sign-in.hide-password': 'Hide',
  'sign-in.hide-password-label': 'Hide password',
  'sign-in.submit': 'Sign in',
  'sign-in.cancel': 'Return to {application}',
  'sign-in.signed-out': 'You are signed out.',
  'sign-in.username-missing': 'Enter your user name or e-mail address',
  'sign-in.password-missing': 'Enter your password',
  'sign-in.refused': 'The user name or the password is not right. Check both and try again.',

  'consent.title': 'Allow {application} to use your account?',
  'consent.account': 'You are signed in as {name}',
  'consent.required': '{application} asks for',
  'consent.optional': 'Allow this too, if you like',
  'consent.whole-profile':
    'With this, {application} can read all of these: your name, nickname, e-mail address, phone number, profile page and time zone.',
  'consent.destination': 'You then go to {destination}',
  'consent.policy': 'Privacy policy',
  'consent.terms': 'Terms of service',
  'consent.allow': 'Allow',
  'consent.deny': 'Deny',

  // The standard scopes, for as long as their texts are still those of config/authorization-servers.ts.
  'scope.openid.name': 'Sign you in',
  'scope.openid.description': 'Know who you are by a stable identifier',
  'scope.profile.name': 'Your profile',
  'scope.profile.description': 'Your name, nickname, profile page and time zone',
  'scope.email.name': 'Your e-mail address',
  'scope.email.description': 'Your e-mail address and whether it is verified',
  'scope.address.name': 'Your postal address',
  'scope.address.description': 'Your postal address',
  'scope.phone.name': 'Your phone number',
  'scope.phone.description': 'Your phone number',
  'scope.offline_access.name': 'Stay connected',
  'scope.offline_access.description': 'Keep access while you are away, until you or the application end it',
  'scope.groups.name': 'Your groups',
  'scope.groups.description': 'The groups that you belong to',

  'form-post.title': 'Going on to {application}',
  'form-post.explain': 'You are being sent back. If nothing happens, press the button.',
  'form-post.submit': 'Continue',

  'logout.title': 'Sign out?',
  'logout.account': 'You are signed in as {name}.',
  'logout.question': 'Signing out ends your session in this browser, for all applications.',
  'logout.question-application': '{application} asks to end your session in this browser. That signs you out for all applications.',
  'logout.submit': 'Sign out',
  'logout.stay': 'Stay signed in',

  'home.title': 'You are signed in',
  'home.account': 'as {name}',
  'home.explain': 'Applications that use this service let you in without asking for your password again.',
  'home.playground': 'Open the playground',
  'home.sign-out': 'Sign out',

  'error.code': 'Error',
  'error.request-id': 'Request id',
  'error.return': 'Return to {application}',
  'error.home': 'Go to the start page',
  'error.help': 'If you ask someone for help, tell them the request id.',

  'error.heading.application': 'The application sent a wrong request',
  'error.advice.application':
    'This is not your mistake. Go back and try again; if it happens again, tell the people who run the application.',
  'error.heading.access_denied': 'You do not have access',
  'error.advice.access_denied': 'If you think that you should, ask your administrator.',
  'error.heading.server_error': 'Something went wrong here',
  'error.advice.server_error': 'This is not your mistake, and it has been recorded. Try again in a moment.',
  'error.heading.temporarily_unavailable': 'The service is not available at the moment',
  'error.advice.temporarily_unavailable': 'Nothing is lost. Wait a minute, then reload this page.',
  'error.heading.not_found': 'There is no such page',
  'error.advice.not_found': 'Check the address, or go to the start page.',
  'error.heading.interaction_expired': 'This sign-in has ended',
  'error.advice.interaction_expired': 'Go back to the application and sign in from there again.',
  'error.heading.interaction_elsewhere': 'This sign-in does not belong to this browser',
  'error.advice.interaction_elsewhere':
    'Go back to the application and sign in from there again, in this browser. Cookies must be allowed for this site.',
  'error.heading.session_changed': 'You have signed in or out meanwhile',
  'error.advice.session_changed': 'Go back to the application and start there again.',
  'error.heading.form_refused': 'This form could not be accepted',
  'error.advice.form_refused':
    'Open the page again and send the form from there. If it happens again, allow cookies for this site in your browser.',
  'error.heading.bad_request': 'Your browser sent something that cannot be understood',
  'error.advice.bad_request': 'Go back, reload the page and try again.',

  'failure.server_error': 'An unexpected error occurred.',
  'failure.temporarily_unavailable': 'The database cannot be reached.',
  'failure.not_found': 'Nothing is found at this address.',
  'failure.interaction_expired': 'It took too long, or it was already finished, perhaps in another tab.',
  'failure.interaction_elsewhere':
    'The browser did not send the cookie of this sign-in. It was begun in another browser, or cookies are blocked.',
  'failure.session_changed': 'The session in this browser is no longer the one that this page was made for.',
  'failure.form_refused.cross-site': 'It was sent from a page of another site.',
  'failure.form_refused.token': 'It does not belong to this browser, perhaps because cookies are blocked or were deleted.',
  'failure.bad_request': 'The request is malformed or too large.',
} as const;

/** The texts of one language: all keys, or it does not compile. */
export type Messages = Readonly<Record<keyof typeof en, string>>;
