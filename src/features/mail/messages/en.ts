/**
 * The mails in English, the language that the others translate. Every mail knows `{service}` and `{login}`; some know `{provider}` or `{address}`. How long a
 * link holds stands in config/defaults.ts: seven days, an hour, a day.
 */
import type { MailKind } from '../mail.policy.ts';

/** What one mail says. */
interface MailWords {
  readonly subject: string;
  readonly heading: string;
  /** The first is what a list of mails shows beside the subject. */
  readonly paragraphs: readonly string[];
  /** On the button, where the mail has a link. */
  readonly action?: string;
  readonly closing: string;
}

export interface MailMessages {
  readonly common: Readonly<Record<'account' | 'time' | 'browser' | 'address' | 'byHand' | 'sender' | 'support', string>>;
  readonly kinds: Readonly<Record<MailKind, MailWords>>;
}

const NOT_YOU =
  'If this was you, there is nothing to do. If it was not, open your account now, change your password and end the sessions you do not know.';

export const mailEn: MailMessages = {
  common: {
    account: 'Account',
    time: 'Time',
    browser: 'Browser',
    address: 'Network address',
    byHand: 'If the button does not work, open this address:',
    sender: 'This message was sent automatically by {service}. Nobody reads replies to it.',
    support: 'Help',
  },
  kinds: {
    invitation: {
      subject: 'Your account at {service}',
      heading: 'Welcome to {service}',
      paragraphs: ['An account was made for you. Choose a password to begin.', 'The link works once, for seven days.'],
      action: 'Choose a password',
      closing: 'If you do not know what this is about, ignore this message.',
    },
    activation: {
      subject: 'Activate your account at {service}',
      heading: 'Your account is active',
      paragraphs: ['Choose a password, and you can sign in to {service}.', 'The link works once, for seven days.'],
      action: 'Choose a password',
      closing: 'If you do not know what this is about, ignore this message.',
    },
    'password-reset': {
      subject: 'Choose a new password for {service}',
      heading: 'Choose a new password',
      paragraphs: ['With this link you choose a new password.', 'It works once, for one hour.'],
      action: 'Choose a new password',
      closing: 'If you did not ask for it, ignore this message: without the link nobody can choose a password for your account.',
    },
    'password-elsewhere': {
      subject: 'You sign in to {service} without a password',
      heading: 'Your account has no password here',
      paragraphs: ['Somebody asked for a new password. Your account has none: you sign in by way of {provider}.'],
      closing: 'If you cannot sign in there, ask {provider} for help. If you did not ask for a password, ignore this message.',
    },
    'email-verification': {
      subject: 'Confirm your e-mail address for {service}',
      heading: 'Is this your e-mail address?',
      paragraphs: ['Confirm that {address} belongs to you.', 'The link works once, for one day.'],
      action: 'Confirm the address',
      closing: 'If the account is not yours, do not open the link and ignore this message.',
    },
    'new-sign-in': {
      subject: 'New sign-in to {service}',
      heading: 'Your account was used in a new browser',
      paragraphs: ['Somebody signed in to your account with a browser that was not used for it before.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'password-changed': {
      subject: 'Your password for {service} was changed',
      heading: 'Your password was changed',
      paragraphs: ['From now on only the new password is good. You were signed out everywhere.'],
      action: 'I did not do this: choose a new password',
      closing: 'If you or your administrator changed it, there is nothing to do.',
    },
    'factor-added': {
      subject: 'A second factor was added at {service}',
      heading: 'A second factor was added to your account',
      paragraphs: ['An authenticator app or a passkey can now be used to sign in to your account.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'factor-removed': {
      subject: 'A second factor was removed at {service}',
      heading: 'A second factor was removed from your account',
      paragraphs: ['An authenticator app or a passkey can no longer be used to sign in to your account.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'recovery-codes-replaced': {
      subject: 'New recovery codes at {service}',
      heading: 'Your recovery codes were replaced',
      paragraphs: ['The recovery codes you had before do not work any more.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'account-linked': {
      subject: 'Your account at {service} was connected',
      heading: 'Your account was connected with {provider}',
      paragraphs: ['From now on your account at {provider} can be used to sign in.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'account-unlinked': {
      subject: 'Your account at {service} was disconnected',
      heading: 'Your account was disconnected from {provider}',
      paragraphs: ['Your account at {provider} can no longer be used to sign in.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'data-downloaded': {
      subject: 'Your data at {service} was downloaded',
      heading: 'The data of your account was downloaded',
      paragraphs: ['Somebody downloaded a file with all that this service holds about you. It holds no password.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'email-changed': {
      subject: 'Your e-mail address at {service} was changed',
      heading: 'Your e-mail address was changed',
      paragraphs: ['Your account now has the address {address}. This is the last message to the address before.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    'email-removed': {
      subject: 'Your e-mail address at {service} was removed',
      heading: 'Your e-mail address was removed',
      paragraphs: ['Your account has no e-mail address any more. This is the last message to this one.'],
      action: 'Open your account',
      closing: NOT_YOU,
    },
    test: {
      subject: 'A test message from {service}',
      heading: 'Mail from {service} reaches you',
      paragraphs: ['Somebody asked for this message in the admin console with your account. That you read it shows that mail arrives.'],
      closing: 'If it was not you, somebody else uses your account: change your password.',
    },
  },
};
