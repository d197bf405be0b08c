/** Explains a sign-in in plain sentences: password, lock, second factor and new session. */

import type { Piece, Tone } from '../../pages/console/detail-page.ts';
import { type Phrase, phrase, type Text, type Value } from '../../platform/i18n/phrase.ts';
import type { FactorTried, PasswordRefused, RecordedRequest, SessionStart } from '../policies/decisions.policy.ts';
import type { RequirementReason } from '../second-factors/second-factor.policy.ts';
import { WRONG_PASSWORDS } from '../sign-in/lockout.policy.ts';

/** An evaluated step. */
export interface StepText {
  readonly what: readonly Piece[];
  readonly outcome: Phrase;
}

export interface DecisionText {
  readonly tone: Tone;
  readonly sentences: readonly Text[];
  /** Checks in the order in which they ran. */
  readonly steps: readonly StepText[];
  /** Possible next steps. */
  readonly advice: readonly Text[];
  /** The request, if it can be simulated today. */
  readonly request?: RecordedRequest;
}

export const NOTHING = { steps: [], advice: [] } as const;

const until = (lockedUntil: unknown): Value => (typeof lockedUntil === 'string' ? new Date(lockedUntil) : phrase('a while'));

const STATUSES: Readonly<Record<string, string>> = {
  SUSPENDED: 'it is suspended',
  DEPROVISIONED: 'it is deactivated',
  STAGED: 'it is not activated yet',
  PROVISIONED: 'its user has not chosen a password yet',
  LOCKED_OUT: 'it is locked',
  RECOVERY: 'its password is being reset',
};

/** Next step for a status that cannot sign in. */
const REMEDIES: Readonly<Record<string, string>> = {
  SUSPENDED: 'Select “Unsuspend” on the page of the user.',
  DEPROVISIONED: 'Select “Activate” on the page of the user.',
  STAGED: 'Select “Activate” on the page of the user, or “Approve” after a sign-up.',
};

export function passwordText({ reason, status = '', failures = 0, lockedUntil, knownBrowser = false }: PasswordRefused): DecisionText {
  const bad = (sentences: Text[], ...advice: Text[]): DecisionText => ({ ...NOTHING, tone: 'bad', sentences, advice });
  const place = knownBrowser
    ? 'The user had signed in with this browser before. Such browsers are counted separately, so that guesses from elsewhere do not lock the user out.'
    : 'The user had not signed in with this browser before.';
  switch (reason) {
    case 'UNKNOWN_USER':
      return bad(
        ['No account has the user name or e-mail address that was typed, or several accounts share the address.'],
        'Ask the user what they typed. It is not in the log, because it may be a password.',
      );
    case 'LOCKED':
      return bad(
        [
          phrase(
            'After too many wrong passwords the account was locked until {lockedUntil}. Until then even the correct password is refused.',
            { lockedUntil: until(lockedUntil) },
          ),
          place,
        ],
        'The lock ends automatically. “Unlock” on the page of the user ends it immediately.',
      );
    case 'WRONG_PASSWORD':
      return bad(
        [
          'The account exists; the password was wrong.',
          lockedUntil === undefined
            ? phrase('Wrong passwords in a row: {failures}; {most} lock the account.', { failures, most: WRONG_PASSWORDS })
            : phrase('The limit was reached: the account was locked until {lockedUntil}.', { lockedUntil: until(lockedUntil) }),
          place,
        ],
        'If the user forgot it, select “Reset the password” on the page of the user. It creates a link to choose a new one.',
      );
    case 'EXPIRED':
      return bad(
        [
          'The password was right, but it has expired. The sign-in page asks the user for a new one.',
          'The password grant and sign-ins by API refuse an expired password.',
        ],
        'How long a password lasts is set under Security → Passwords.',
      );
    case 'PROVIDER_REQUIRED':
      return bad(
        ['The domain of the user requires an identity provider. No password is accepted.'],
        'The page of the organization shows the required provider under Sign-in.',
      );
    case 'NOT_A_METHOD':
      return bad(
        ['Users do not sign in by password here, so the password was not checked.'],
        'The methods are under Security → Sign-in policy. Programs that use the password grant or sign-in by API need the method “Password”.',
      );
    case 'NOT_COMPARED':
      return bad(
        ['The password was not compared: too many costly comparisons were waiting. This does not count as a failed attempt.'],
        'The user can sign in again in a few seconds. After the first sign-in the password is stored with a hash that costs less.',
      );
    case 'CHANGED_MEANWHILE':
      return bad(['The password was right, but the account or its password was changed at the same moment.']);
    case 'NOT_ACTIVE':
      return bad(
        [
          phrase('The password was right, but nobody can sign in with this account: {status}.', {
            status: STATUSES[status] === undefined ? phrase('its status was {status}', { status }) : phrase(STATUSES[status]),
          }),
        ],
        ...(REMEDIES[status] === undefined ? [] : [REMEDIES[status]]),
      );
  }
}

export function lockText(after: unknown): DecisionText {
  const { lockedUntil, locks = 1 } = (after ?? {}) as { lockedUntil?: string; locks?: number };
  return {
    ...NOTHING,
    tone: 'bad',
    sentences: [
      phrase('{failures} wrong attempts in a row locked the account until {lockedUntil}.', {
        failures: WRONG_PASSWORDS,
        lockedUntil: until(lockedUntil),
      }),
      locks > 1
        ? phrase('Locks in a row: {locks}. Each lasts twice as long as the one before, an hour at most.', { locks })
        : 'The first lock lasts one minute. Each following one lasts twice as long, an hour at most.',
    ],
    advice: ['The lock ends automatically. “Unlock” on the page of the user ends it immediately.'],
  };
}

const SENT = {
  right: 'The code was correct.',
  wrong: 'The code was wrong, expired or already used. Each code works once.',
};

const METHODS = {
  code: {
    right: 'The code from the app was correct.',
    wrong: 'The code from the app was wrong or already used. Each code works once.',
  },
  recovery: {
    right: 'The recovery code was correct.',
    wrong: 'The recovery code was wrong or already used. Each code works once.',
  },
  email: SENT,
  sms: SENT,
  call: SENT,
  passkey: { right: 'The passkey was correct.', wrong: 'The passkey response was wrong or already used. Each response works once.' },
  other: { right: 'The second factor was correct.', wrong: 'The second factor was wrong or already used. Each works once.' },
} as const;

export function factorText({ reason, method, failures, lockedUntil }: FactorTried): DecisionText {
  const given = Object.hasOwn(METHODS, method) ? METHODS[method as keyof typeof METHODS] : METHODS.other;
  if (reason === 'RIGHT') return { ...NOTHING, tone: 'good', sentences: [given.right] };
  if (reason === 'LOCKED') {
    const sentences = [
      phrase('After too many wrong codes, every code was refused until {lockedUntil}, even a correct one.', {
        lockedUntil: until(lockedUntil),
      }),
    ];
    return { ...NOTHING, tone: 'bad', sentences, advice: ['It ends automatically.'] };
  }
  return {
    tone: 'bad',
    steps: [],
    sentences: [
      given.wrong,
      lockedUntil === undefined
        ? phrase('Wrong codes in a row: {failures}; {most} lock the codes of the user.', { failures, most: WRONG_PASSWORDS })
        : phrase('The limit was reached: every code is refused until {lockedUntil}.', { lockedUntil: until(lockedUntil) }),
    ],
    advice: [
      'Codes depend on the time: is the clock of the user’s phone right?',
      'If the phone is lost, select “Reset” under Factors on the page of the user. They can then set up another one.',
    ],
  };
}

const WAYS: Readonly<Record<string, string>> = {
  pwd: 'a password',
  otp: 'a one-time code',
  sms: 'a code by text message',
  tel: 'a code by phone call',
  fed: 'an external identity provider',
  hwk: 'a passkey in hardware',
  swk: 'a passkey',
};

export const REQUIREMENTS: Readonly<Record<RequirementReason, string>> = {
  APPLICATION: 'the application requires it of all its users',
  ORGANIZATION: 'the organization of the sign-in requires it of all members',
  EVERYONE: 'the sign-in policy requires it of all users',
  ADMINISTRATORS: 'the sign-in policy requires it of administrators, and the user is one',
  REQUEST: 'the application’s request asked for it (acr_values)',
};

export function sessionText({ amr, secondFactor: { enrolled, demandedBy, trustedBrowser } }: SessionStart): DecisionText {
  const ways = amr.flatMap((method) => (WAYS[method] === undefined ? [] : [phrase(WAYS[method])]));
  const proved =
    ways.length === 0 ? phrase('How the user signed in is no longer known.') : phrase('The user proved who they are by {ways}.', { ways });
  const because = demandedBy === undefined ? undefined : phrase(REQUIREMENTS[demandedBy]);
  if (amr.includes('mfa')) {
    const used = enrolled
      ? 'A second factor was used: the user has one, and is then always asked for it.'
      : because === undefined
        ? 'A second factor was used.'
        : phrase('A second factor was used: {because}.', { because });
    return { ...NOTHING, tone: 'good', sentences: [proved, used] };
  }
  if (trustedBrowser) {
    const sentences = [proved, 'The second factor was not asked for: the user trusts this browser.'];
    return { ...NOTHING, tone: 'good', sentences, advice: ['Trusted browsers are on the page of the user, under Security.'] };
  }
  if (enrolled) {
    const sentences = [proved, 'The user set up a second factor during this sign-in. It is required from the next one on.'];
    return { ...NOTHING, tone: 'good', sentences };
  }
  if (because !== undefined) {
    const sentences = [
      proved,
      phrase('A second factor is required: {because}. The user has none, and cannot set one up through the API.', { because }),
    ];
    return {
      ...NOTHING,
      tone: 'warning',
      sentences,
      advice: ['The authorize endpoint asks the user to set one up before an application gets a response.'],
    };
  }
  const sentences = [
    proved,
    'No second factor was asked for: the user has none, and neither the sign-in policy nor the application nor the request required one.',
  ];
  return {
    ...NOTHING,
    tone: 'good',
    sentences,
    advice: ['Set the users who need a second factor under Security → Sign-in policy, or on the page of an application.'],
  };
}
