/**
 * The profile of a user: the attributes of Okta's base profile, and `zoneinfo`, which userinfo tells
 * (OpenID Connect Core section 5.1). Every value is a string; only the login is demanded.
 */
import { z } from 'zod';
import { text } from './text.ts';

/** null stands for an attribute that is not set: Okta's SDKs send it so. */
const attribute = text().nullish();

const url = text({ most: 2048 }).refine(
  (value) => /^https?:\/\//i.test(value) && URL.canParse(value),
  'must be a URL that begins with https:// or http://',
);

const email = text().refine((value) => z.regexes.unicodeEmail.test(value), 'must be an e-mail address');

export const userProfile = z.strictObject({
  login: text({ least: 1 }),
  email: email.nullish(),
  secondEmail: email.nullish(),
  firstName: attribute,
  lastName: attribute,
  middleName: attribute,
  honorificPrefix: attribute,
  honorificSuffix: attribute,
  title: attribute,
  displayName: attribute,
  nickName: attribute,
  profileUrl: url.nullish(),
  primaryPhone: attribute,
  mobilePhone: attribute,
  streetAddress: attribute,
  city: attribute,
  state: attribute,
  zipCode: attribute,
  countryCode: attribute,
  postalAddress: attribute,
  preferredLanguage: attribute,
  locale: attribute,
  timezone: attribute,
  zoneinfo: attribute,
  userType: attribute,
  employeeNumber: attribute,
  costCenter: attribute,
  organization: attribute,
  division: attribute,
  department: attribute,
  managerId: attribute,
  manager: attribute,
});

export type UserProfile = z.output<typeof userProfile>;
