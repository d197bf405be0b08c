/**
 * Removes bearer values from a payload before it is stored: the value itself (`jti`), the session cookie of an interaction, the `request_uri` or
 * device code that it started with, and token hints (RFC 6819 section 5.1.4.1.3).
 */
import type { AdapterPayload } from '../library/oidc-provider.ts';
import { rowHandle } from './row-keys.ts';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function without(value: unknown, ...names: readonly string[]): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** The library copies these from the parameters into the prompt's details. */
const STORED_IN_PARAMS = ['id_token_hint', 'login_hint'];

export function withoutUsableValues(payload: AdapterPayload): Json {
  const { jti: _, returnTo: __, userCode: ___, ...stored } = payload as Json;
  const params = without(stored.params, 'id_token_hint', 'sessionToken', 'request');
  if (payload.kind === 'DeviceCode') return { ...stored, params };
  if (payload.kind !== 'Interaction') return stored;
  const prompt = isObject(stored.prompt)
    ? { ...stored.prompt, details: without(stored.prompt.details, ...STORED_IN_PARAMS) }
    : stored.prompt;
  return {
    ...stored,
    ...(typeof stored.parJti === 'string' && { parJti: rowHandle(stored.parJti) }),
    ...(typeof stored.deviceCode === 'string' && { deviceCode: rowHandle(stored.deviceCode) }),
    prompt,
    session: without(stored.session, 'cookie'),
    params,
  };
}
