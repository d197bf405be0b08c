/** Access policies of an authorization server: applications and priorities. Rules have their own file. */

import { z } from 'zod';
import { applicationsIn } from '../../pages/console/candidates.ts';
import { detailPage, type TablePart } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { pickManyField } from '../../pages/console/picker.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { policyFields } from '../authorization-servers/authorization-server-fields.service.ts';
import { idsNamed } from '../authorization-servers/references.console.ts';
import { type ServerSubject, serverSubject, subjectWithParts } from '../authorization-servers/server-page.console.ts';
import { ALL_CLIENTS } from './access-policy.policy.ts';
import { placeField, policyStatus, priorityOf, statusSteps } from './ordering.console.ts';
import type { Policy } from './policies.resource.ts';
import {
  createPolicy,
  deletePolicy,
  listPolicies,
  movePolicy,
  type PolicyInput,
  replacePolicy,
  setPolicyStatus,
} from './policies.service.ts';
import { addressOfPolicy, clientsInWords, crumbsOfPolicies, homeOfPolicies, policyList, policyOf } from './policy-list.console.ts';
import { listRules } from './policy-rules.service.ts';
import { draftForRules, rulesTable } from './rules-table.console.ts';

const detail: ConsolePage = {
  path: '/api/servers/:serverId/policies/:policyId',
  access: 'service',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const policy = await policyOf(visit, subject);
    const address = addressOfPolicy(subject, policy);
    const actions = [
      { label: 'Create rule', href: `${address}/rules/new`, main: true },
      { label: 'Edit', href: `${address}/edit` },
      { label: 'Move', href: `${address}/move` },
      policy.status === 'ACTIVE'
        ? { label: 'Deactivate', href: `${address}/deactivate` }
        : { label: 'Activate', href: `${address}/activate` },
      { label: 'Delete', href: `${address}/delete` },
    ];
    const rules: TablePart = await rulesTable(visit, subject, policy, { address, typed });
    return detailPage({
      title: verbatim(policy.name),
      status: policyStatus(policy.status),
      ...(policy.description !== '' && { lead: verbatim(policy.description) }),
      crumbs: crumbsOfPolicies(subject),
      actions: subject.hasOwnParts ? actions : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'For', value: await clientsInWords(visit, policy) },
            { label: 'Priority', value: policy.priority },
            { label: 'ID', value: policy.id, copy: true },
          ],
        },
        rules,
      ],
    });
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    return draftForRules(visit, await policyOf(visit, subject), form);
  },
};

/** @param now undefined: a new policy */
async function fieldsFor(visit: ConsoleRequest, now: Policy | undefined, typed: Typed): Promise<readonly Field[]> {
  const isForAll = now === undefined || now.clients.includes(ALL_CLIENTS);
  return [
    { name: 'name', label: 'Name', required: true, value: now?.name },
    { name: 'description', label: 'Description', kind: 'description', hint: 'For administrators.', value: now?.description },
    {
      name: 'for',
      label: 'For which applications',
      kind: 'radios',
      value: isForAll ? 'all' : 'some',
      options: [
        { value: 'all', label: 'All applications' },
        { value: 'some', label: 'These applications only' },
      ],
    },
    await pickManyField(
      applicationsIn(visit),
      {
        name: 'clients',
        label: 'Applications',
        what: 'applications',
        when: { field: 'for', value: 'some' },
        hint: 'If none is selected, the policy never applies.',
        ids: isForAll ? [] : now.clients,
        alias: 'conditions.clients.include',
      },
      typed,
    ),
  ];
}

const policyForm = z.object({
  name: policyFields.name,
  description: policyFields.description,
  for: z.enum(['all', 'some']),
  clients: z.array(z.string()).max(1000),
});

/** @throws {ApiError} validation */
async function inputIn(visit: ConsoleRequest, form: URLSearchParams): Promise<PolicyInput> {
  const { for: whom, clients, ...input } = parse(policyForm, typedValues(await fieldsFor(visit, undefined, NOTHING_TYPED), form));
  return { ...input, clients: whom === 'all' ? [ALL_CLIENTS] : await idsNamed(visit, 'application', 'clients', clients) };
}

const create: ConsolePage = {
  path: '/api/servers/:serverId/policies/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const title = 'Create access policy';
    const facts = ['It is evaluated last, after the existing ones. It allows nothing until it has a rule.'];
    const fields = await fieldsFor(visit, undefined, typed);
    return formPage({ title, crumbs: crumbsOfPolicies(subject), facts, fields, submit: title, cancel: homeOfPolicies(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    const policy = await createPolicy(visit.services, subject.server.id, await inputIn(visit, form), visit.request);
    return { goTo: addressOfPolicy(subject, policy), notice: 'policy-created' };
  },
};

/** Breadcrumbs of a page below a policy. */
export const crumbsBelowPolicy = (subject: ServerSubject, policy: Policy) => [
  ...crumbsOfPolicies(subject),
  { label: verbatim(policy.name), href: addressOfPolicy(subject, policy) },
];

const edit: ConsolePage = {
  path: '/api/servers/:serverId/policies/:policyId/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const policy = await policyOf(visit, subject);
    const page = { title: 'Edit access policy', crumbs: crumbsBelowPolicy(subject, policy), fields: await fieldsFor(visit, policy, typed) };
    return formPage({ ...page, submit: 'Save', cancel: addressOfPolicy(subject, policy) }, typed);
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    const { id } = await policyOf(visit, subject);
    const policy = await replacePolicy(visit.services, subject.server.id, id, await inputIn(visit, form), visit.request);
    return { goTo: addressOfPolicy(subject, policy), notice: 'policy-changed' };
  },
};

const move: ConsolePage = {
  path: '/api/servers/:serverId/policies/:policyId/move',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const policy = await policyOf(visit, subject);
    const fields = [placeField(await listPolicies(visit.services, subject.server.id), policy)];
    const page = { title: phrase('Move “{policy}”', { policy: policy.name }), crumbs: crumbsBelowPolicy(subject, policy), fields };
    return formPage(
      { ...page, facts: ['The first policy that applies to the application decides.'], submit: 'Move', cancel: homeOfPolicies(subject) },
      typed,
    );
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    await movePolicy(visit.services, subject.server.id, visit.params.policyId ?? '', priorityOf(form), visit.request);
    return { goTo: homeOfPolicies(subject), notice: 'policy-moved' };
  },
};

const [activate, deactivate] = statusSteps({
  path: '/api/servers/:serverId/policies/:policyId',
  what: 'access policy',
  passedOver: 'The next policy that applies to its applications decides instead. Applications without another policy get no more tokens.',
  notices: ['policy-activated', 'policy-deactivated'],
  async find(visit) {
    const subject = await subjectWithParts(visit);
    const policy = await policyOf(visit, subject);
    return { name: policy.name, crumbs: crumbsBelowPolicy(subject, policy), address: addressOfPolicy(subject, policy) };
  },
  change: ({ services, params, request }, status) =>
    setPolicyStatus(services, params.serverId ?? '', params.policyId ?? '', status, request),
});

const remove: ConsolePage = {
  path: '/api/servers/:serverId/policies/:policyId/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const policy = await policyOf(visit, subject);
    const rules = await listRules(visit.services, { serverId: subject.server.id, policyId: policy.id });
    const facts = [
      policy.clients.includes(ALL_CLIENTS)
        ? phrase('This deletes {rules} for all applications.', { rules: countOf(rules.length, 'rule') })
        : phrase('This deletes {rules} for {applications}.', {
            rules: countOf(rules.length, 'rule'),
            applications: countOf(policy.clients.length, 'application'),
          }),
      'The next policy that applies to its applications decides instead. Applications without another policy get no more tokens.',
      'This cannot be undone.',
    ];
    const page = {
      title: phrase('Delete the access policy “{policy}”?', { policy: policy.name }),
      crumbs: crumbsBelowPolicy(subject, policy),
      facts,
    };
    return formPage({ ...page, submit: 'Delete access policy', danger: true, cancel: addressOfPolicy(subject, policy) }, typed);
  },
  async receive(visit) {
    const subject = await subjectWithParts(visit);
    await deletePolicy(visit.services, subject.server.id, visit.params.policyId ?? '', visit.request);
    return { goTo: homeOfPolicies(subject), notice: 'policy-deleted' };
  },
};

export const serverPolicies: readonly ConsolePage[] = [policyList, create, detail, edit, move, activate, deactivate, remove];
