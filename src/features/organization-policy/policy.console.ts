/** Organization → Sign-in → Policy: the organization's requirements for signing in, in addition to the service's. */
import { detailPage, type Piece } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { counted, phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import {
  mayChangeOrganization,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from '../organizations/organization-page.console.ts';
import { getOrganization } from '../organizations/organizations.service.ts';
import type { OrganizationPolicy } from './organization-policy.policy.ts';
import { organizationPolicyFields } from './organization-policy.resource.ts';
import { readOrganizationPolicy, replaceOrganizationPolicy } from './organization-policy.service.ts';

// Describes the policy of an organization, on its own page and in the simulator.

const AS_SERVICE: Piece = { text: 'As for the service', soft: true };

const idleInWords = ({ sessionIdleMinutes }: OrganizationPolicy): Piece =>
  sessionIdleMinutes === null ? AS_SERVICE : { text: counted(sessionIdleMinutes, '{count} minute', '{count} minutes') };

const lifetimeInWords = ({ sessionLifetimeHours }: OrganizationPolicy): Piece =>
  sessionLifetimeHours === null ? AS_SERVICE : { text: counted(sessionLifetimeHours, '{count} hour', '{count} hours') };

/** One-line summary of the requirements. */
export const organizationPolicyInWords = (policy: OrganizationPolicy): readonly Piece[] => {
  const { mfa, sessionIdleMinutes, sessionLifetimeHours } = policy;
  return [
    ...(mfa === 'REQUIRED' ? [{ text: 'A second factor is required.', tone: 'good' as const }] : []),
    ...(sessionIdleMinutes === null
      ? []
      : [
          {
            text: phrase('Users sign in again after {time} without a sign-in for it.', {
              time: counted(sessionIdleMinutes, '{count} minute', '{count} minutes'),
            }),
          },
        ]),
    ...(sessionLifetimeHours === null
      ? []
      : [{ text: phrase('Users sign in again after {time}.', { time: counted(sessionLifetimeHours, '{count} hour', '{count} hours') }) }]),
  ];
};

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/policy`;

async function policyOf(visit: ConsoleRequest) {
  const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
  return { organization, policy: await readOrganizationPolicy(visit.services, organization.id, visit.request) };
}

const show: ConsolePage = {
  path: '/organizations/:orgId/policy',
  access: 'organizations',
  async show(visit) {
    const { organization, policy } = await policyOf(visit);
    const isChangeable = mayChangeOrganization(visit, organization.id, 'MANAGE_PROVIDERS');
    return detailPage({
      ...organizationHead(visit, organization),
      actions: isChangeable ? [{ label: 'Edit', href: `${homeOf(organization.id)}/edit`, main: true }] : [],
      parts: [
        {
          kind: 'facts',
          lead: 'For sign-ins to applications that ask for the organization. It can be stricter than the sign-in policy of the service.',
          facts: [
            { label: 'Second factor', value: policy.mfa === 'REQUIRED' ? { text: 'Required', tone: 'good' } : AS_SERVICE },
            { label: 'Idle timeout', value: idleInWords(policy) },
            { label: 'Maximum session age', value: lifetimeInWords(policy) },
          ],
        },
      ],
    });
  },
};

const fieldsOf = (held: OrganizationPolicy): readonly Field[] => [
  {
    name: 'mfa',
    label: 'Second factor',
    kind: 'radios',
    value: held.mfa,
    options: [
      { value: 'INHERIT', label: 'As for the service' },
      {
        value: 'REQUIRED',
        label: 'Required',
        hint: 'Members without one set one up at their next sign-in. Trusted browsers do not replace it.',
      },
    ],
  },
  {
    name: 'sessionIdleMinutes',
    label: 'Idle timeout',
    kind: 'duration',
    unit: 'minute',
    value: held.sessionIdleMinutes === null ? '' : String(held.sessionIdleMinutes),
    hint: 'Members must sign in again when they have not signed in for the organization for this long. Empty: as for the service.',
  },
  {
    name: 'sessionLifetimeHours',
    label: 'Maximum session age',
    kind: 'duration',
    unit: 'hour',
    value: held.sessionLifetimeHours === null ? '' : String(held.sessionLifetimeHours),
    hint: 'Members must sign in again this long after their sign-in. Refresh tokens also expire then. Empty: as for the service.',
  },
];

const edit: ConsolePage = {
  path: '/organizations/:orgId/policy/edit',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_PROVIDERS');
    const policy = await readOrganizationPolicy(visit.services, organization.id, visit.request);
    return formPage(
      {
        title: 'Edit the sign-in policy',
        crumbs: [...organizationCrumbs(organization), { label: 'Policy', href: homeOf(organization.id) }],
        facts: ['Changes also apply to existing sessions, from their next use.'],
        fields: fieldsOf(policy),
        submit: 'Save',
        cancel: homeOf(organization.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { organization, policy } = await policyOf(visit);
    const set = parse(organizationPolicyFields, typedValues(fieldsOf(policy), form));
    await replaceOrganizationPolicy(visit.services, organization.id, set, visit.request);
    return { goTo: homeOf(organization.id), notice: 'sign-in-policy-changed' };
  },
};

export const organizationPolicyPages: readonly ConsolePage[] = [show, edit];
