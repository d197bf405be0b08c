/** Records of an import, independent of the file format: one schema for each kind. They refer to each other by name, not by ID. */
import { z } from 'zod';
import { ApiError } from '../../platform/errors/errors.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { applicationRoleFields } from '../application-roles/application-roles.service.ts';
import { applicationLabel, clientFields, clientId, clientSecret, credentialFields } from '../applications/application-settings.service.ts';
import { identityProviderBody } from '../identity-providers/identity-provider-settings.service.ts';
import { userCredentials, userProfile } from '../users/user-profile.service.ts';

/** Maximum references of each kind per user. */
const MOST_REFERENCES = 500;

const name = text({ least: 1 });
const names = z.array(name).max(MOST_REFERENCES).default([]);
const roleNames = z
  .array(text({ least: 1, most: 100 }))
  .max(100)
  .default([]);

const STATUSES = ['ACTIVE', 'STAGED', 'PROVISIONED', 'PASSWORD_EXPIRED', 'SUSPENDED', 'DEPROVISIONED'] as const;

const totp = z.strictObject({
  type: z.literal('TOTP'),
  /** Base32 (RFC 4648), 10 to 64 bytes. */
  secret: z
    .string()
    .transform((value) => value.replace(/[\s=-]/g, '').toUpperCase())
    .refine((value) => /^[A-Z2-7]{16,103}$/.test(value), 'must be base32 of 10 to 64 bytes'),
  name: shownText({ least: 1, most: 100 }).default('Authenticator app'),
});

/** A user with all their data. */
export const importedUser = z
  .strictObject({
    profile: userProfile,
    credentials: userCredentials.optional(),
    status: z.enum(STATUSES).default('ACTIVE'),
    /** ID of an organization, as in the body of `POST users`. */
    orgId: text({ least: 1 }).optional(),
    depId: text({ least: 1 }).optional(),
    organizations: names,
    groups: names,
    applications: z
      .array(z.strictObject({ clientId: name, roles: roleNames }))
      .max(MOST_REFERENCES)
      .default([]),
    /** Links of the user to identity providers. */
    links: z
      .array(z.strictObject({ provider: name, subject: text({ least: 1, most: 512 }), knownAs: text({ least: 1 }).optional() }))
      .max(50)
      .default([]),
    factors: z.array(totp).max(1, 'must be a single authenticator app. Remove the others from the file').default([]),
  })
  .refine(({ orgId, depId }) => depId === undefined || orgId !== undefined, { path: ['orgId'], error: 'is required with depId' });

export type ImportedUser = z.output<typeof importedUser>;

export const importedOrganization = z.strictObject({ name: shownText({ least: 1 }), originId: text().default('') });

export const importedGroup = z.strictObject({ name: shownText({ least: 1 }), description: text({ most: 1024 }).default('') });

export const importedApplication = z.strictObject({
  clientId,
  label: applicationLabel,
  secret: clientSecret.optional(),
  activate: z.boolean().default(true),
  settings: z.strictObject({ ...clientFields, ...credentialFields }),
  roles: z.array(applicationRoleFields).max(100).default([]),
  /** Groups that it is assigned to, with the roles that come along. */
  groups: z
    .array(z.strictObject({ name, roles: roleNames }))
    .max(1000)
    .default([]),
});

export const importedProvider = identityProviderBody.safeExtend({
  activate: z.boolean().default(true),
  /** Name of the organization that it belongs to. It is connected for no domain yet, and is not offered on other sign-in pages. */
  organization: name.optional(),
});

/** Position in the file: a line, or a place in a document. */
export type ImportPlace = { readonly line: number } | { readonly entry: string };

/** Item that a format reads from the file. The schemas validate `value`. */
export type ImportItem =
  | {
      readonly kind: 'user';
      readonly place: ImportPlace;
      readonly value: unknown;
      /** Attributes by their names in the other service; those that exist here are imported. */
      readonly attributes?: Readonly<Record<string, unknown>>;
      /** Attributes that users could change there; only those that they can change here are imported. */
      readonly ownAttributes?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'organization' | 'group' | 'application' | 'provider'; readonly place: ImportPlace; readonly value: unknown }
  | {
      readonly kind: 'refused';
      readonly place: ImportPlace;
      readonly reasons: readonly string[];
      /** Name of the refused identity provider: the file's links to it are refused too. */
      readonly provider?: string;
    }
  /** Objects of one kind that are not imported; reported at the end, with an alternative. */
  | { readonly kind: 'left'; readonly what: string; readonly instead: string; readonly count: number }
  /** A remark about one record, printed once. */
  | { readonly kind: 'note'; readonly message: string };

/** @returns the reasons for which a record is refused, as in the API @throws the error itself if it is not about the record */
export function reasonsOf(error: unknown): readonly string[] {
  if (!(error instanceof ApiError)) throw error;
  return error.causes.length > 0 ? error.causes : [error.summary];
}
