/** The form of a SCIM target: its fields, and their values as input of the service. */
import { type Field, typedValues } from '../../pages/console/form.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { ProvisioningTarget } from './provisioning.resource.ts';
import { type ProvisioningInput, provisioningBody } from './provisioning-fields.service.ts';

export const AUTHENTICATIONS = { BEARER: 'Bearer token', OAUTH: 'OAuth client credentials' } as const;
export const REMOVAL_ACTIONS = { DEACTIVATE: 'Deactivate', DELETE: 'Delete' } as const;

export function provisioningFormFields(target?: ProvisioningTarget): readonly Field[] {
  const auth = target?.auth;
  const oauth = auth?.type === 'OAUTH' ? auth : undefined;
  const isOAuth = { field: 'auth', value: 'OAUTH' };
  return [
    {
      name: 'baseUrl',
      label: 'Address',
      kind: 'url',
      required: true,
      value: target?.baseUrl,
      hint: 'Base URL of the SCIM service, without /Users.',
    },
    {
      name: 'auth',
      label: 'Authentication',
      kind: 'radios',
      value: auth?.type ?? 'BEARER',
      options: Object.entries(AUTHENTICATIONS).map(([value, label]) => ({ value, label })),
    },
    { name: 'tokenUrl', label: 'Token endpoint', kind: 'url', value: oauth?.tokenUrl, alias: 'auth.tokenUrl', when: isOAuth },
    { name: 'clientId', label: 'Client ID', value: oauth?.clientId, alias: 'auth.clientId', when: isOAuth },
    { name: 'scope', label: 'Scope', value: oauth?.scope, alias: 'auth.scope', when: isOAuth },
    {
      name: 'secret',
      label: 'Token or client secret',
      kind: 'secret',
      alias: 'auth.secret',
      hint: target === undefined ? 'Stored encrypted and never shown again.' : 'Empty: the stored one is kept if the host stays the same.',
    },
    {
      name: 'leavers',
      label: 'Users who leave',
      kind: 'radios',
      value: target?.leavers ?? 'DEACTIVATE',
      hint: 'Users who are deactivated, suspended or deleted here, or no longer assigned.',
      options: Object.entries(REMOVAL_ACTIONS).map(([value, label]) => ({ value, label })),
    },
    { name: 'pushGroups', label: 'Push assigned groups with their members', kind: 'check', checked: target?.pushGroups },
    {
      name: 'mapping',
      label: 'Attribute mapping',
      kind: 'lines',
      rows: 4,
      value: Object.entries(target?.mapping ?? {})
        .map(([name, field]) => `${name} = ${field ?? '-'}`)
        .join('\n'),
      hint: 'One per line, e.g. “userName = email”. “nickName = -” is not sent. All others are sent as this service’s SCIM server has them.',
    },
    { name: 'isActive', alias: 'status', label: 'Active', kind: 'check', checked: target === undefined || target.status === 'ACTIVE' },
  ];
}

/** Parses the form. @throws {ApiError} validation */
export function provisioningIn(form: URLSearchParams): ProvisioningInput {
  const { baseUrl, auth, tokenUrl, clientId, scope, leavers, pushGroups, mapping, isActive } = typedValues(provisioningFormFields(), form);
  const secret = form.get('secret') ?? '';
  const lines = ((mapping ?? []) as readonly string[]).map((line) => {
    const place = line.indexOf('=');
    const [name, field] = place < 0 ? [line.trim(), ''] : [line.slice(0, place).trim(), line.slice(place + 1).trim()];
    return [name, field === '-' ? null : field] as const;
  });
  const scoped = typeof scope === 'string' && scope !== '' ? { scope } : {};
  return parse(provisioningBody, {
    status: isActive === true ? 'ACTIVE' : 'INACTIVE',
    baseUrl,
    auth: { type: auth, ...(auth === 'OAUTH' && { tokenUrl, clientId, ...scoped }), ...(secret !== '' && { secret }) },
    leavers,
    pushGroups: pushGroups === true,
    mapping: Object.fromEntries(lines),
  });
}
