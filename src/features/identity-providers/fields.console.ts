/**
 * The form of an identity provider: its fields and their values. features/identity-providers/identity-provider-settings.service.ts validates them.
 */

import { groupsIn, organizationsIn } from '../../pages/console/candidates.ts';
import type { Field } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickField, pickManyField } from '../../pages/console/picker.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import {
  DEFAULT_USER_NAME,
  type IdentityProviderSettings,
  type IdentityProviderType,
  providerUsesSecret,
} from './identity-provider.policy.ts';

const CONNECTION = 'Connection';
const ADDRESSES = 'Addresses';
const LINKING = 'Users who have an account';
const PROVISIONING = 'New users';
const DETAILS = 'Details';

const CLIENT = 'protocol.credentials.client';

const pairs = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');

type Held = IdentityProviderSettings & { readonly name: string };

/** @param held initial values of the fields @param isNew has it no secret yet? */
export async function providerFields(visit: ConsoleRequest, held: Held, isNew: boolean, typed: Typed): Promise<readonly Field[]> {
  const { type, protocol, policy } = held;
  const isOidc = protocol.type === 'OIDC';
  const issuer: Field = {
    name: 'issuer',
    ...(type === 'GOOGLE' && { advanced: true }),
    label: 'Issuer',
    kind: 'url',
    group: CONNECTION,
    required: type !== 'GOOGLE',
    value: protocol.issuer?.url,
    alias: 'protocol.issuer',
    hint: ISSUER_HINTS[type] ?? 'The issuer in its tokens, without “/.well-known/openid-configuration”. The rest is discovered from there.',
  };
  const address = (name: 'authorization' | 'token' | 'userInfo' | 'jwks', label: string, hint?: string): Field => ({
    ...{
      name,
      label,
      kind: 'url',
      advanced: isOidc,
      group: ADDRESSES,
      value: protocol.endpoints?.[name]?.url,
      alias: `protocol.endpoints.${name}`,
    },
    ...(hint !== undefined && { hint }),
  });
  return [
    { name: 'name', label: 'Name', required: true, value: held.name, hint: 'Shown on the button: “Sign in with …”.' },
    ...(isOidc ? [issuer] : []),
    {
      name: 'clientId',
      label: 'Client ID',
      group: CONNECTION,
      required: true,
      value: protocol.credentials.client.client_id,
      alias: `${CLIENT}.client_id`,
    },
    {
      name: 'clientSecret',
      label: 'Client secret',
      kind: 'secret',
      group: CONNECTION,
      alias: `${CLIENT}.client_secret`,
      hint:
        isNew || !providerUsesSecret(protocol)
          ? 'Stored encrypted, and never shown again.'
          : 'Empty: the stored one is kept. If the issuer or the token address changes, it must be entered again.',
    },
    {
      name: 'method',
      advanced: true,
      label: 'How the secret is sent',
      group: CONNECTION,
      value: protocol.credentials.client.token_endpoint_auth_method,
      alias: `${CLIENT}.token_endpoint_auth_method`,
      options: [
        { value: 'client_secret_basic', label: 'In the Authorization header (client_secret_basic)' },
        { value: 'client_secret_post', label: 'In the body (client_secret_post)' },
        { value: 'none', label: 'There is none: PKCE alone (none)' },
      ],
    },
    {
      name: 'scopes',
      advanced: true,
      label: 'Scopes',
      kind: 'lines',
      rows: 3,
      group: CONNECTION,
      value: protocol.scopes.join('\n'),
      alias: 'protocol.scopes',
      hint: isOidc ? 'One per line. “openid” is required, and so is “email” if accounts are linked by address.' : 'One per line.',
    },
    address(
      'authorization',
      'Authorization endpoint',
      isOidc ? 'Leave these empty: they are read from the provider’s discovery document. Without one, fill them in.' : undefined,
    ),
    address('token', 'Token endpoint'),
    address('userInfo', 'Userinfo endpoint'),
    ...(isOidc ? [address('jwks', 'Keys (jwks_uri)')] : []),
    {
      name: 'accountLink',
      label: 'Link accounts by e-mail address',
      kind: 'radios',
      group: LINKING,
      value: policy.accountLink.action,
      alias: 'policy.accountLink.action',
      options: [
        {
          value: 'DISABLED',
          label: 'No',
          hint: 'Accounts are linked only by an administrator, under “Linked users”, or by the users themselves.',
        },
        {
          value: 'AUTO',
          label: 'Yes, where the provider has verified the address',
          hint: 'Choose it only for a provider that you trust to verify addresses: a user with a verified address there gets the account with that address here. Administrators are never linked in this way.',
        },
      ],
    },
    {
      name: 'matchType',
      when: { field: 'accountLink', value: 'AUTO' },
      label: 'Compared with',
      group: LINKING,
      value: policy.subject.matchType,
      alias: 'policy.subject.matchType',
      options: [
        { value: 'EMAIL', label: 'The e-mail address of the account' },
        { value: 'USERNAME', label: 'The user name' },
        { value: 'USERNAME_OR_EMAIL', label: 'Either of them' },
      ],
    },
    {
      name: 'emailDomains',
      when: { field: 'accountLink', value: 'AUTO' },
      label: 'E-mail domains',
      kind: 'lines',
      rows: 2,
      group: LINKING,
      value: policy.subject.emailDomains?.join('\n'),
      alias: 'policy.subject.emailDomains',
      hint: 'One per line, e.g. example.com. The provider is believed for addresses of these only. Empty: for all.',
    },
    await pickManyField(
      groupsIn(visit),
      {
        name: 'linkGroups',
        label: 'Only members of these groups',
        what: 'groups',
        group: LINKING,
        when: { field: 'accountLink', value: 'AUTO' },
        ids: policy.accountLink.filter?.groups.include ?? [],
        alias: 'policy.accountLink.filter',
        hint: 'If none is selected, every account can be linked.',
      },
      typed,
    ),
    {
      name: 'provisioning',
      label: 'Users without an account',
      kind: 'radios',
      group: PROVISIONING,
      value: policy.provisioning.action,
      alias: 'policy.provisioning.action',
      options: [
        { value: 'DISABLED', label: 'Are refused and must be invited' },
        {
          value: 'AUTO',
          label: 'Get an account at the first sign-in',
          hint: 'Everyone who can sign in at the provider then gets an account.',
        },
      ],
    },
    await pickField(
      organizationsIn(visit),
      {
        name: 'orgId',
        when: { field: 'provisioning', value: 'AUTO' },
        label: 'Organization',
        none: 'No organization',
        group: PROVISIONING,
        value: policy.provisioning.orgId ?? '',
        alias: 'policy.provisioning.orgId',
        hint: 'New users become members of it.',
      },
      typed,
    ),
    await pickManyField(
      groupsIn(visit),
      {
        name: 'groups',
        label: 'Groups',
        what: 'groups',
        group: PROVISIONING,
        when: { field: 'provisioning', value: 'AUTO' },
        ids: policy.provisioning.groups.assignments,
        alias: 'policy.provisioning.groups',
        hint: 'New users become members of these groups.',
      },
      typed,
    ),
    {
      name: 'userName',
      advanced: true,
      label: 'User name',
      group: PROVISIONING,
      value: policy.subject.userNameTemplate.template,
      alias: 'policy.subject.userNameTemplate',
      hint: phrase('{how} Empty: {none}.', {
        how: phrase('The user name of new users: “idpuser.” and the name of a claim.'),
        none: DEFAULT_USER_NAME,
      }),
    },
    {
      name: 'attributeMap',
      advanced: true,
      label: 'Profile',
      kind: 'lines',
      rows: 5,
      group: PROVISIONING,
      value: pairs(policy.attributeMap),
      alias: 'policy.attributeMap',
      hint: 'One per line: attribute of the profile here = claim of the provider. Also attributes of your own. A value that does not fit is left out, and the system log says why.',
    },
    {
      name: 'profileMaster',
      advanced: true,
      label: 'Update the profile at each sign-in',
      kind: 'check',
      group: PROVISIONING,
      checked: policy.provisioning.profileMaster,
      alias: 'policy.provisioning.profileMaster',
      hint: 'Otherwise the profile is filled only when the account is created.',
    },
    ...(type === 'OIDC'
      ? [
          {
            name: 'trustAssertions',
            advanced: true,
            label: 'Trust its tokens at the token endpoint',
            kind: 'check' as const,
            group: DETAILS,
            checked: policy.trust?.assertions === true,
            alias: 'policy.trust.assertions',
            hint: 'Applications that are allowed to can exchange its tokens about linked users for tokens of this service, without a sign-in.',
          },
        ]
      : []),
    {
      name: 'parameters',
      advanced: true,
      label: 'More request parameters',
      kind: 'lines',
      rows: 2,
      group: DETAILS,
      value: pairs(protocol.settings.authorizationParameters),
      alias: 'protocol.settings.authorizationParameters',
      hint:
        type === 'GOOGLE'
          ? 'One per line. “hd = example.com” asks for accounts of that Google Workspace.'
          : 'One per line, e.g. “prompt = select_account”.',
    },
    {
      name: 'clockSkew',
      advanced: true,
      label: 'Clock skew',
      kind: 'duration',
      unit: 'second',
      group: DETAILS,
      value: String(policy.maxClockSkew / 1000),
      alias: 'policy.maxClockSkew',
      hint: 'The clock may be off by this much, at most 300.',
    },
  ];
}

const ISSUER_HINTS: Readonly<Partial<Record<IdentityProviderType, string>>> = {
  GOOGLE: 'Google’s own; leave it as it is.',
  MICROSOFT: '“common” lets in accounts of every tenant. Replace it with your tenant ID to let in only your tenant.',
};
