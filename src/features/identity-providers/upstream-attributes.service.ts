/**
 * Maps an identity provider's claims to user attributes, built-in and custom, validated by type and rules. Invalid values are omitted and recorded in
 * the audit log; the sign-in continues.
 */
import type { Executor } from '../../platform/database/database.ts';
import { addedValues, isEmptyValue, sizeProblem, valueOfText, valueProblem } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue } from '../user-schema/attributes.resource.ts';
import { findTakenValues, shareLockUserSchema } from '../user-schema/user-schema.store.ts';
import { userProfile } from '../users/user-profile.service.ts';
import type { User } from '../users/users.resource.ts';
import type { IdentityProviderPolicy } from './identity-provider.policy.ts';
import { mappedAttributes, textOfClaim, type UpstreamClaims } from './upstream-claims.policy.ts';

/** An omitted attribute. Contains no value, because it may be a secret that was mapped by mistake. */
export interface LeftOut {
  readonly attribute: string;
  readonly claim: string;
  readonly problem: string;
}

export interface FilledAttributes {
  /** Profile attributes and their values. */
  readonly values: Readonly<Record<string, AttributeValue>>;
  readonly leftOut: readonly LeftOut[];
  /** Required and mapped attributes without a value. */
  readonly missing: readonly string[];
}

/**
 * Locks the schema until the transaction ends.
 * @param user owner of the profile; undefined: a new user
 */
export async function filledAttributes(
  trx: Executor,
  policy: IdentityProviderPolicy,
  { claims, email }: { readonly claims: UpstreamClaims; readonly email?: string | undefined },
  user: Pick<User, 'id' | 'profile'> | undefined,
): Promise<FilledAttributes> {
  const base = ofEveryService(policy, claims, email);
  const { attributes } = await shareLockUserSchema(trx);
  const mapped = attributes.filter(({ name }) => policy.attributeMap[name] !== undefined);
  const given = mapped.map((attribute) => ({
    attribute,
    value: valueOfClaim(attribute.type, claims[policy.attributeMap[attribute.name] ?? '']),
  }));
  const taken = await takenAmong(trx, user?.id ?? '', given);
  const values: Record<string, AttributeValue> = {};
  const leftOut: LeftOut[] = [];
  for (const { attribute, value } of given) {
    if (isEmptyValue(value)) continue;
    const { name } = attribute;
    const whole = { ...addedValues<AttributeValue>(user?.profile ?? {}), ...values, [name]: value as AttributeValue };
    const problem =
      valueProblem(attribute, value) ??
      (taken.has(name) ? 'another user has this value. Choose another one' : undefined) ??
      sizeProblem(whole)?.message;
    if (problem === undefined) values[name] = value as AttributeValue;
    else leftOut.push({ attribute: name, claim: policy.attributeMap[name] ?? '', problem });
  }
  const missing = mapped.filter(({ name, required }) => required && values[name] === undefined).map(({ name }) => name);
  return { values: { ...base, ...values }, leftOut, missing };
}

/**
 * Built-in attributes from the claims. Invalid values are skipped silently: a different format at the provider is not the administrator's mistake.
 */
function ofEveryService(policy: IdentityProviderPolicy, claims: UpstreamClaims, email: string | undefined): Record<string, string> {
  const shape: Readonly<Record<string, (typeof userProfile.shape)['title']>> = userProfile.shape as never;
  return Object.fromEntries(
    Object.entries(mappedAttributes(policy, claims, email)).flatMap(([attribute, value]) => {
      const checked = Object.hasOwn(shape, attribute) ? shape[attribute]?.safeParse(value).data : undefined;
      return typeof checked === 'string' && checked !== '' ? [[attribute, checked]] : [];
    }),
  );
}

/** @returns the names of unique attributes whose value another user already has */
async function takenAmong(
  trx: Executor,
  userId: string,
  given: readonly { readonly attribute: Attribute; readonly value: unknown }[],
): Promise<ReadonlySet<string>> {
  const unique = given.filter(
    ({ attribute, value }) => attribute.unique && !isEmptyValue(value) && valueProblem(attribute, value) === undefined,
  );
  if (unique.length === 0) return new Set();
  const values = Object.fromEntries(unique.map(({ attribute, value }) => [attribute.name, String(value)]));
  return new Set((await findTakenValues(trx, userId, values)).keys());
}

/** Converts a claim to the type of a custom attribute. A claim that cannot be converted is unchanged, so that validation refuses it. */
function valueOfClaim(type: Attribute['type'], claim: unknown): unknown {
  if (type === 'array') return typeof claim === 'string' ? [claim] : claim;
  if (type === 'string') return textOfClaim(claim);
  return typeof claim === 'string' ? valueOfText(type, claim.trim()) : claim;
}
