/**
 * Imports lists of Okta's API: users (`GET /api/v1/users`), groups (`/groups`) and applications (`/apps`), as JSON arrays or one object per line.
 * They contain no passwords; hashes can be added in `credentials.password.hash`, where Okta accepts them.
 */
import { z } from 'zod';
import { validation } from '../../../platform/errors/errors.ts';
import { parse } from '../../../platform/validation/parsing.ts';
import { credentialFields } from '../../applications/application-settings.service.ts';
import type { ImportItem, ImportPlace } from '../import-record.service.ts';
import { recordsOf } from '../import-source.service.ts';
import { readRecord } from './ndjson.service.ts';

const profile = z.record(z.string(), z.unknown());
const oauthClient = z.looseObject({ oauthClient: z.record(z.string(), z.unknown()).optional() });

const resource = z.looseObject({
  type: z.unknown().optional(),
  status: z.string().optional(),
  label: z.string().optional(),
  signOnMode: z.string().optional(),
  protocol: z.unknown().optional(),
  profile: profile.nullish(),
  credentials: oauthClient
    .extend({
      password: z.looseObject({ hash: z.unknown().optional() }).nullish(),
      provider: z.looseObject({ type: z.string().optional() }).nullish(),
      recovery_question: z.unknown().optional(),
    })
    .nullish(),
  settings: oauthClient.nullish(),
  groups: z.array(z.string()).optional(),
});
type Resource = z.output<typeof resource>;

export async function* itemsOfOkta(source: AsyncIterable<Buffer>): AsyncGenerator<ImportItem> {
  for await (const record of recordsOf(source)) yield* readRecord(record, (value, place) => itemOf(parse(resource, value), place));
}

function itemOf(found: Resource, place: ImportPlace): ImportItem[] {
  if (found.signOnMode !== undefined) return [applicationItem(found, place)];
  if (found.profile?.login !== undefined) return [...leftOf(found).map(left), userItem(found, place)];
  if (found.type === 'BUILT_IN') return [left(LEFT_BY_OKTA.builtIn)];
  if (typeof found.profile?.name === 'string') {
    const { name, description } = found.profile;
    return [{ kind: 'group', place, value: { name, ...(typeof description === 'string' && { description }) } }];
  }
  if (found.protocol !== undefined)
    throw validation([
      { field: 'protocol.credentials', message: 'Okta does not export client secrets. Create the identity provider manually' },
    ]);
  throw validation([{ field: 'profile', message: 'must be a user, a group or an application' }]);
}

export const LEFT_BY_OKTA = {
  passwords: {
    what: 'passwords',
    instead: 'Ask Okta at the first sign-in by an inline hook, or send each user a link to choose a new one',
  },
  elsewhere: {
    what: 'sign-ins by a directory or another provider',
    instead: 'Connect the provider, and link its users or let them link at their first sign-in',
  },
  questions: { what: 'recovery questions', instead: 'Nothing to do: users reset their password by e-mail' },
  builtIn: { what: 'built-in groups', instead: 'Nothing to do: every user is in them' },
} as const;

const left = (one: { readonly what: string; readonly instead: string }): ImportItem => ({ kind: 'left', count: 1, ...one });

function leftOf({ credentials }: Resource) {
  const isElsewhere = !OWN_PROVIDERS.has(credentials?.provider?.type ?? 'OKTA');
  const hasHash = credentials?.password?.hash !== undefined;
  return [
    ...(hasHash ? [] : [isElsewhere ? LEFT_BY_OKTA.elsewhere : LEFT_BY_OKTA.passwords]),
    ...(credentials?.recovery_question ? [LEFT_BY_OKTA.questions] : []),
  ];
}

/** Types of credential provider whose passwords Okta verifies itself. */
const OWN_PROVIDERS: ReadonlySet<string> = new Set(['OKTA', 'IMPORT']);

/** Okta's statuses that differ from ours. A lock here lasts at most an hour, so the users are active; users in recovery have a password. */
const STATUSES: Readonly<Record<string, string>> = { LOCKED_OUT: 'ACTIVE', RECOVERY: 'ACTIVE' };

function userItem({ status = 'ACTIVE', profile: given, credentials, groups }: Resource, place: ImportPlace): ImportItem {
  const { login, email, emailVerified, ...attributes } = given ?? {};
  const hash = credentials?.password?.hash;
  return {
    kind: 'user',
    place,
    value: {
      profile: { login, email, ...(typeof emailVerified === 'boolean' && { emailVerified }) },
      ...(hash !== undefined && { credentials: { password: { hash } } }),
      status: STATUSES[status] ?? status,
      ...(groups !== undefined && { groups }),
    },
    attributes,
  };
}

/** Settings with the same name and meaning here. */
const SETTINGS = [
  ...['application_type', 'redirect_uris', 'post_logout_redirect_uris', 'response_types', 'grant_types', 'consent_method'],
  ...['client_uri', 'logo_uri', 'tos_uri', 'policy_uri', 'initiate_login_uri', 'jwks_uri'],
];

const given = (settings: Readonly<Record<string, unknown>>, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap((name) => (settings[name] === null || settings[name] === undefined ? [] : [[name, settings[name]]])));

function applicationItem({ signOnMode, status, label, credentials, settings }: Resource, place: ImportPlace): ImportItem {
  if (signOnMode !== 'OPENID_CONNECT') throw validation([{ field: 'signOnMode', message: `must be OPENID_CONNECT, not ${signOnMode}` }]);
  const client = credentials?.oauthClient ?? {};
  return {
    kind: 'application',
    place,
    value: {
      clientId: client.client_id,
      label,
      activate: status !== 'INACTIVE',
      settings: { ...given(settings?.oauthClient ?? {}, SETTINGS), ...given(client, Object.keys(credentialFields)) },
    },
  };
}
