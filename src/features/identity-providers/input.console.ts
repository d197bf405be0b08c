/** Converts the identity provider form to service input (features/identity-providers/identity-provider-settings.service.ts). */

import { groupsIn, organizationsIn } from '../../pages/console/candidates.ts';
import { type Field, typedValues } from '../../pages/console/form.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { pickedId } from '../../pages/console/picker.ts';
import { ApiError, validation } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { IdentityProviderType } from './identity-provider.policy.ts';
import { identityProviderBody, identityProviderInput } from './identity-provider-settings.service.ts';
import type { IdentityProviderInput } from './identity-providers.service.ts';

/** @throws {ApiError} validation of the field */
function pairsIn(field: string, lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split('=');
      if (rest.length === 0) throw validation([{ field, message: `must be written as “name = value”: ${line.slice(0, 80)}` }]);
      return [name.trim(), rest.join('=').trim()];
    }),
  );
}

/** @throws {ApiError} validation of the field */
async function groupsNamed(visit: ConsoleRequest, field: string, lines: readonly string[]): Promise<readonly string[]> {
  const ids = await Promise.all(lines.map((line) => pickedId(groupsIn(visit), field, line)));
  return ids.filter((id) => id !== undefined);
}

/** @throws {ApiError} validation */
export async function providerInput(
  visit: ConsoleRequest,
  type: IdentityProviderType,
  fields: readonly Field[],
  form: URLSearchParams,
): Promise<IdentityProviderInput> {
  const typed = typedValues(fields, form);
  const text = (name: string): string => String(typed[name] ?? '').trim();
  const lines = (name: string): readonly string[] => (typed[name] ?? []) as readonly string[];
  const address = (name: string) => (text(name) === '' ? undefined : { url: text(name) });
  const endpoints = {
    authorization: address('authorization'),
    token: address('token'),
    userInfo: address('userInfo'),
    jwks: address('jwks'),
  };
  const assignments = await groupsNamed(visit, 'groups', lines('groups'));
  const include = await groupsNamed(visit, 'linkGroups', lines('linkGroups'));
  const body = {
    name: typed.name,
    type,
    protocol: {
      issuer: address('issuer'),
      endpoints: Object.values(endpoints).some((one) => one !== undefined) ? endpoints : undefined,
      scopes: lines('scopes'),
      credentials: {
        client: {
          client_id: typed.clientId,
          client_secret: form.get('clientSecret') || undefined,
          token_endpoint_auth_method: typed.method,
        },
      },
      settings: { authorizationParameters: pairsIn('parameters', lines('parameters')) },
    },
    policy: {
      provisioning: {
        action: typed.provisioning,
        orgId: await pickedId(organizationsIn(visit), 'orgId', text('orgId')),
        groups: { action: assignments.length > 0 ? 'ASSIGN' : 'NONE', assignments },
        profileMaster: typed.profileMaster,
      },
      accountLink: { action: typed.accountLink, filter: include.length > 0 ? { groups: { include } } : undefined },
      subject: {
        userNameTemplate: text('userName') === '' ? undefined : { template: text('userName') },
        matchType: typed.matchType,
        emailDomains: lines('emailDomains').length > 0 ? lines('emailDomains') : undefined,
      },
      attributeMap: pairsIn('attributeMap', lines('attributeMap')),
      trust: { assertions: typed.trustAssertions },
      maxClockSkew: typeof typed.clockSkew === 'number' ? typed.clockSkew * 1000 : typed.clockSkew,
    },
  };
  return namingEntries(() => identityProviderInput(parse(identityProviderBody, body)));
}

const ENTRY = /^(protocol\.settings\.authorizationParameters|policy\.attributeMap)\.([^:]+): /;

/** Replaces positions in problems by the entries of the list, and converts milliseconds to the form's seconds. */
function namingEntries<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The form uses seconds, the service milliseconds.
    const causes = error.causes.map((cause) => cause.replace(ENTRY, '$1: “$2” ').replace(/^(policy\.maxClockSkew: .* )300000$/, '$1300'));
    throw new ApiError(error.errorCode, error.status, error.summary, causes);
  }
}
