/**
 * Choices of the playground for an authorization request (OpenID Connect Core 1.0 section 3.1.2.1), as in its forms and addresses. Invalid
 * combinations are possible: the playground shows the response.
 */
import { z } from 'zod';

export const RESPONSE_TYPES = [
  'code',
  'id_token',
  'token',
  'id_token token',
  'code id_token',
  'code token',
  'code id_token token',
] as const;
export const RESPONSE_MODES = ['query', 'fragment', 'form_post'] as const;
export const CLIENT_AUTHENTICATIONS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export const PROMPTS = ['none', 'login', 'consent'] as const;

/** The standard scopes, and what each gives access to. */
export const SCOPES: Readonly<Record<string, string>> = {
  openid: 'who you are (makes the request a sign-in)',
  profile: 'your name and the like',
  email: 'your e-mail address',
  address: 'your postal address',
  phone: 'your phone number',
  offline_access: 'a refresh token',
  groups: 'your groups',
};

/** A missing or invalid choice is an empty text: the parameter is omitted. */
const chosen = <T extends string>(values: readonly T[]) => z.union([z.literal(''), z.enum(values)]).catch('');

export const choices = z.object({
  server: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
    .catch('built-in'),
  /** The user's own application; empty: the playground's. */
  client_id: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{0,255}$/)
    .catch(''),
  client_auth: z.enum(CLIENT_AUTHENTICATIONS).catch('none'),
  response_type: z.enum(RESPONSE_TYPES).catch('code'),
  response_mode: chosen(RESPONSE_MODES),
  scope: z.string().max(500).catch(''),
  prompt: chosen(PROMPTS),
  login_hint: z.string().max(200).catch(''),
  max_age: z
    .string()
    .regex(/^\d{0,9}$/)
    .catch(''),
});
export type Choices = z.infer<typeof choices>;

/** Choices of the start button. */
export const DEFAULT_CHOICES: Choices = {
  server: 'built-in',
  client_id: '',
  client_auth: 'none',
  response_type: 'code',
  response_mode: '',
  scope: 'openid profile email offline_access',
  prompt: '',
  login_hint: '',
  max_age: '',
};

/** Parses a form or query; without a response type, everything but the server uses defaults. */
export function readChoices(form: URLSearchParams): Choices {
  const said = choices.parse(Object.fromEntries(form));
  if (!form.has('response_type')) return { ...DEFAULT_CHOICES, server: said.server };
  // Check boxes repeat their name, and other scopes have a separate field.
  const scopes = [...form.getAll('scope'), form.get('other_scopes') ?? ''].flatMap((words) => words.split(/\s+/)).filter(Boolean);
  return { ...said, scope: choices.shape.scope.parse([...new Set(scopes)].join(' ')) };
}

/** The same choices as fields, for hidden inputs and URLs. */
export const choiceFields = (made: Choices): [name: string, value: string][] => Object.entries(made).filter(([, value]) => value !== '');
