/** Which attributes of their profile a user changes themselves, and how. The login, the e-mail address and what an organization says of them are not among them. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { profileChanges } from './user-profile.service.ts';
import { asUser, userTarget } from './user-reach.service.ts';
import type { User } from './users.resource.ts';
import { profileFields } from './users.service.ts';
import { lockUser, updateUser } from './users.store.ts';

/** In the order of the page. */
export const OWN_ATTRIBUTES = [
  'firstName',
  'middleName',
  'lastName',
  'displayName',
  'nickName',
  'mobilePhone',
  'primaryPhone',
  'profileUrl',
  'streetAddress',
  'zipCode',
  'city',
  'state',
  'countryCode',
  'zoneinfo',
] as const;

export type OwnAttribute = (typeof OWN_ATTRIBUTES)[number];

/** What helps a browser to fill the fields in (HTML section 4.10.18.7). */
export const OWN_AUTOCOMPLETE: Readonly<Record<OwnAttribute, string>> = {
  firstName: 'given-name',
  middleName: 'additional-name',
  lastName: 'family-name',
  displayName: 'name',
  nickName: 'nickname',
  mobilePhone: 'tel',
  primaryPhone: 'home tel',
  profileUrl: 'url',
  streetAddress: 'address-line1',
  zipCode: 'postal-code',
  city: 'address-level2',
  state: 'address-level1',
  countryCode: 'country',
  zoneinfo: 'off',
};

/** The zones of the IANA time zone database by their present names, for a choice. */
export const TIME_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');

/** @returns the zone as the database writes it, whatever the case that it was typed in */
const zoneAsWritten = (zone: string): string => TIME_ZONES.find((each) => each.toLowerCase() === zone.toLowerCase()) ?? zone;

/** Is it a zone of the IANA time zone database (OpenID Connect Core section 5.1, `zoneinfo`)? */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

export type OwnProfile = Readonly<Partial<Record<OwnAttribute, string>>>;

/** @returns the attributes that are not good, none of which is then changed */
export async function changeOwnProfile(
  services: Services,
  userId: string,
  wanted: OwnProfile,
  request: RequestContext,
): Promise<readonly OwnAttribute[]> {
  const { wrong, given, profile } = checkOwnProfile(wanted);
  if (wrong.length === 0) await change(services, userId, { ...given, ...profile }, request);
  return wrong;
}

/** @returns the attributes that are not good; what was given, trimmed; and, of it, what is not empty, as it is stored */
export function checkOwnProfile(wanted: OwnProfile): {
  readonly wrong: readonly OwnAttribute[];
  readonly given: Readonly<Record<string, string>>;
  readonly profile: Readonly<Record<string, string>>;
} {
  const given = Object.fromEntries(OWN_ATTRIBUTES.flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name].trim()]])));
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const wrong = new Set(profileChanges.safeParse(filled).error?.issues.map(({ path }) => path[0]));
  if (filled.zoneinfo !== undefined && !isTimeZone(filled.zoneinfo)) wrong.add('zoneinfo');
  const profile = { ...filled, ...(filled.zoneinfo !== undefined && { zoneinfo: zoneAsWritten(filled.zoneinfo) }) };
  return { wrong: OWN_ATTRIBUTES.filter((name) => wrong.has(name)), given, profile };
}

/** What a page says of an attribute that is not good. */
export const ownAttributeProblem = (name: OwnAttribute): MessageKey =>
  name === 'profileUrl' ? 'account.profile.wrong-url' : name === 'zoneinfo' ? 'account.profile.wrong-zone' : 'account.profile.wrong';

/** Keeps the language that the user wants to read and write. @param language a BCP 47 tag; undefined: whatever the browser says */
export const changeOwnLanguage = (
  services: Services,
  userId: string,
  language: string | undefined,
  request: RequestContext,
): Promise<void> => change(services, userId, { preferredLanguage: language ?? '' }, request);

/** @param attributes an empty one is taken out */
async function change(
  { database }: Services,
  userId: string,
  attributes: Readonly<Record<string, string>>,
  request: RequestContext,
): Promise<void> {
  await database.transaction(async (trx) => {
    const before = await lockUser(trx, userId);
    if (before === undefined) return;
    const profile = Object.fromEntries(Object.entries({ ...before.profile, ...attributes }).filter(([, value]) => value !== ''));
    const names = Object.keys(attributes);
    if (names.every((name) => (before.profile[name] ?? '') === attributes[name])) return;
    const after: User = { ...before, profile, lastUpdated: present() };
    await updateUser(trx, userId, { profile, lastUpdated: after.lastUpdated });
    await recordEvent(trx, {
      eventType: 'user.account.update_profile',
      displayMessage: 'User changed their profile',
      request: asUser(request, before),
      targets: [userTarget(before)],
      before: { profile: profileFields(before) },
      after: { profile: profileFields(after) },
    });
  });
}
