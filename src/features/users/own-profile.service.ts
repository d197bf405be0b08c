/** Attributes that users can change themselves. User name, e-mail address and organization data are excluded. */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import { isTimeZone } from '../../platform/clock/time-zones.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { addedValues, findTakenAttribute, isEmptyValue, sizeProblem, valueProblems } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue, UserSchema } from '../user-schema/attributes.resource.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { shareLockUserSchema } from '../user-schema/user-schema.store.ts';
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

/** Autocomplete values (HTML section 4.10.18.7). */
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

/** Zones of the IANA time zone database by their current names, for selection. */
export const TIME_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');

/** @returns the zone in the database's spelling, case-insensitive */
const zoneAsWritten = (zone: string): string => TIME_ZONES.find((each) => each.toLowerCase() === zone.toLowerCase()) ?? zone;

export type OwnProfile = Readonly<Partial<Record<OwnAttribute, string>>>;

/** Problem with a custom attribute's value. */
type AddedProblem = 'wrong' | 'required' | 'taken';

export interface OwnProblems {
  readonly wrong: readonly OwnAttribute[];
  /** By the names of custom attributes. */
  readonly added: ReadonlyMap<string, AddedProblem>;
}

/** Users' permissions for custom attributes. */
export async function ownAddedAttributes(services: Services) {
  const { attributes } = await currentUserSchema(services);
  return {
    changeable: attributes.filter(({ self }) => self === 'READ_WRITE'),
    readable: attributes.filter(({ self }) => self === 'READ_ONLY'),
  };
}

/**
 * @param added values of custom attributes; those that users cannot change are ignored
 * @returns the invalid attributes; if there are any, nothing is changed
 */
export async function changeOwnProfile(
  services: Services,
  userId: string,
  wanted: OwnProfile,
  added: Readonly<Record<string, AttributeValue | null>>,
  request: RequestContext,
): Promise<OwnProblems> {
  const { wrong, given, profile } = checkOwnProfile(wanted);
  if (wrong.length > 0) return { wrong, added: new Map() };
  try {
    await change(services, userId, { ...given, ...profile }, added, request);
    return { wrong: [], added: new Map() };
  } catch (error) {
    if (error instanceof InvalidAttributes) return { wrong: [], added: error.problems };
    throw error;
  }
}

/** @returns the invalid attributes; the input, trimmed; and its non-empty values for storage */
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

/** Message for an invalid attribute. */
export const ownAttributeProblem = (name: OwnAttribute): MessageKey =>
  name === 'profileUrl' ? 'account.profile.wrong-url' : name === 'zoneinfo' ? 'account.profile.wrong-zone' : 'account.profile.wrong';

/** Stores the user's language. @param language a BCP 47 tag; undefined: the browser's */
export const changeOwnLanguage = (
  services: Services,
  userId: string,
  language: string | undefined,
  request: RequestContext,
): Promise<void> => change(services, userId, { preferredLanguage: language ?? '' }, {}, request);

/** Rolls the transaction back. */
class InvalidAttributes extends Error {
  constructor(readonly problems: ReadonlyMap<string, AddedProblem>) {
    super('invalid attributes');
  }
}

/** @param attributes empty ones are removed @throws {InvalidAttributes} */
async function change(
  { database }: Services,
  userId: string,
  attributes: Readonly<Record<string, string>>,
  added: Readonly<Record<string, AttributeValue | null>>,
  request: RequestContext,
): Promise<void> {
  await database.transaction(async (trx) => {
    const before = await lockUser(trx, userId);
    if (before === undefined) return;
    const schema = await shareLockUserSchema(trx);
    const own = schema.attributes.filter(({ name, self }) => self === 'READ_WRITE' && Object.hasOwn(added, name));
    const values = { ...attributes, ...Object.fromEntries(own.map(({ name }) => [name, added[name] ?? null])) };
    const profile = Object.fromEntries(Object.entries({ ...before.profile, ...values }).filter(([, value]) => !isEmptyValue(value)));
    if (isDeepStrictEqual(profile, { ...before.profile })) return;
    const after: User = { ...before, profile: profile as User['profile'], lastUpdated: present() };
    refuseValues(schema, own, values, after);
    await updateUser(trx, userId, { profile: after.profile, lastUpdated: after.lastUpdated });
    const taken = await findTakenAttribute(trx, schema, after);
    if (taken !== undefined) throw new InvalidAttributes(new Map([[taken, 'taken']]));
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

/** @throws {InvalidAttributes} */
function refuseValues(schema: UserSchema, own: readonly Attribute[], values: Readonly<Record<string, unknown>>, { profile }: User): void {
  const given = Object.fromEntries(own.map(({ name }) => [name, values[name]]));
  const refused = new Set(valueProblems(schema, given, { complete: false }).map(({ field }) => field));
  const isTooLarge = sizeProblem(addedValues(profile)) !== undefined;
  const bad = own.filter(({ name }) => isTooLarge || refused.has(`profile.${name}`));
  if (bad.length > 0)
    throw new InvalidAttributes(new Map(bad.map(({ name }) => [name, isEmptyValue(values[name]) ? 'required' : 'wrong'])));
}
