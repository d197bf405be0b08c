/**
 * Converts a client ID metadata document to application settings (draft-ietf-oauth-client-id-metadata-document section 4). The same rules apply as
 * for settings from an administrator.
 */
import { z } from 'zod';
import { completeSettings, settingProblems } from '../applications/application-settings.policy.ts';
import { applicationLabel, clientFields } from '../applications/application-settings.service.ts';
import type { Application } from '../applications/applications.resource.ts';
import { hostOf } from './client-id.policy.ts';

/** An application as its document describes it. */
export type DocumentClient = Pick<Application, 'id' | 'label' | 'settings'>;

/** The document does not exist, or does not describe a valid client. */
export class ClientDocumentRefused extends Error {
  override readonly name = 'ClientDocumentRefused';

  /** @param passing is it a temporary failure of the network or the host? */
  constructor(
    message: string,
    readonly passing = false,
  ) {
    super(message);
  }
}

const GRANTS = ['authorization_code', 'refresh_token'] as const;
type Grant = (typeof GRANTS)[number];
const isGrant = (name: string): name is Grant => (GRANTS as readonly string[]).includes(name);

/** Other fields are ignored: they are not supported, or such a client must not set them. */
const documentFields = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()).min(1).pipe(clientFields.redirect_uris.unwrap()),
  token_endpoint_auth_method: z.enum(['none', 'private_key_jwt']).default('none'),
  grant_types: z.array(z.string()).max(20).default(['authorization_code']),
  client_uri: clientFields.client_uri,
  tos_uri: clientFields.tos_uri,
  policy_uri: clientFields.policy_uri,
  jwks: clientFields.jwks,
  jwks_uri: clientFields.jwks_uri,
  authorization_details_types: clientFields.authorization_details_types,
});

/**
 * @param id the client ID, under which the document was found
 * @throws {ClientDocumentRefused} naming the field
 */
export function readClientDocument(id: string, text: string): DocumentClient {
  const document = parsed(text);
  for (const secret of ['client_secret', 'client_secret_expires_at'])
    if (secret in document) throw new ClientDocumentRefused(`the document must not contain ${secret}`);
  const result = documentFields.safeParse(document);
  if (!result.success) {
    const { path = [], message = '' } = result.error.issues[0] ?? {};
    throw new ClientDocumentRefused(`${path.join('.') || 'the document'} ${message}`);
  }
  const { client_id, client_name, grant_types, ...fields } = result.data;
  if (client_id !== id) throw new ClientDocumentRefused('client_id must be the address of the document');
  if (!grant_types.includes('authorization_code')) throw new ClientDocumentRefused('grant_types must contain authorization_code');
  const settings = completeSettings({
    ...fields,
    // A native application may use any port of a loopback address (RFC 8252 section 7.3).
    application_type: 'native',
    grant_types: grant_types.filter(isGrant),
    response_types: ['code'],
    pkce_required: true,
    consent_method: 'REQUIRED',
    introspect_any: false,
    profile: 'openid',
    allowed_origins: originsOf([id, ...fields.redirect_uris]),
  });
  const [problem] = settingProblems(settings, false);
  if (problem !== undefined) throw new ClientDocumentRefused(`${problem.setting} ${problem.message}`);
  return { id, label: labelOf(client_name, id), settings };
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new ClientDocumentRefused('the document is not a JSON object');
}

/** A name that could mislead is ignored. */
function labelOf(name: string | undefined, id: string): string {
  const { success, data } = applicationLabel.safeParse(name);
  return success ? data : hostOf(id);
}

const originsOf = (uris: readonly string[]): string[] => [
  ...new Set(uris.filter((uri) => uri.startsWith('https://')).map((uri) => new URL(uri).origin)),
];
