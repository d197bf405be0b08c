/** Simulator: the result of a token request, with reasons. The request is in the address, so it can be shared; nothing is issued or changed. */

import { applicationsIn, organizationsIn, usersIn } from '../../pages/console/candidates.ts';
import {
  accessInWords,
  assignmentInWords,
  consentInWords,
  consentRowInWords,
  type Decided,
  heldRoleInWords,
  scopeInWords,
  stepInWords,
  verdictOf,
} from '../../pages/console/decision-steps.ts';
import type { Part, QueryPart } from '../../pages/console/detail-page.ts';
import type { Field } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest, FieldMessage, Typed } from '../../pages/console/page.ts';
import { type Candidates, type PickerField, pickedId, pickField } from '../../pages/console/picker.ts';
import { fieldMessages } from '../../pages/console/refusals.ts';
import { shownDomain } from '../../platform/dns/domain-name.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { MOST_DETAILS, readDetails } from '../authorization-details/detail-types.service.ts';
import { serverPage, serverSubject } from '../authorization-servers/server-page.console.ts';
import { organizationPolicyInWords } from '../organization-policy/policy.console.ts';
import { spaceSeparated } from '../scopes/granted-scopes.policy.ts';
import { listServerScopes } from '../scopes/scopes.service.ts';
import { ACCESS_GRANT_TYPES, type AccessGrantType } from './access-policy.policy.ts';
import { GRANTS } from './rules-table.console.ts';
import { hookInWords } from './simulated-hook.console.ts';
import { signInFields, signInIn, signInRulesOf } from './simulated-sign-in.console.ts';
import { decidedClaims, lifetimesOf, textsOf } from './simulated-tokens.console.ts';
import { type SimulatedRequest, type SimulatedResult, simulateRequest } from './simulation.service.ts';
import type { SimulatedPrompt } from './simulation-facts.policy.ts';

const PROMPTS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Not given'],
  ['none', 'none: show no page'],
  ['login', 'login: sign in again'],
  ['consent', 'consent: ask again'],
  ['login consent', 'login consent: both'],
];
/** Maximum number of scopes with a check box each. */
const SCOPES_SHOWN = 200;

/** The server's scopes, and others that the URL names. */
async function scopeNames({ services, params, query }: ConsoleRequest): Promise<readonly string[]> {
  const { items } = await listServerScopes(services, params.serverId ?? '', undefined, { limit: SCOPES_SHOWN, after: undefined });
  return [...new Set([...items.map(({ name }) => name), ...scopesIn(query)])];
}

const scopesIn = (query: URLSearchParams): readonly string[] => {
  const value = query.getAll('scopes').join(' ').trim();
  return isPrintable(value) ? spaceSeparated(value.replace(/\s+/g, ' ')) : [];
};

async function fieldsFor(visit: ConsoleRequest): Promise<readonly Field[]> {
  const { query } = visit;
  const held = (name: string) => query.get(name) ?? '';
  const asked: Typed = { values: query, problems: [] };
  const one = async (candidates: Candidates, field: Omit<PickerField, 'value'>) => {
    // The result reports the problem.
    const value = await pickedId(candidates, field.name, held(field.name)).catch(() => undefined);
    return pickField(candidates, { ...field, value }, asked);
  };
  const applications = applicationsIn(visit);
  return [
    await one(applications, { name: 'application', label: 'Application', alias: 'client_id' }),
    await one(usersIn(visit), { name: 'user', label: 'User', none: 'None: with client credentials' }),
    {
      name: 'grant',
      label: 'Grant',
      value: held('grant'),
      options: ACCESS_GRANT_TYPES.map((type) => ({ value: type, label: GRANTS[type] })),
      alias: 'grant_type',
    },
    await one(applications, {
      name: 'actor',
      label: 'Actor',
      hint: 'With token exchange: the application that acts for the user.',
      none: 'The requesting application',
    }),
    {
      name: 'scopes',
      label: 'Scopes',
      hint: 'None: the server’s default ones.',
      kind: 'checks',
      values: scopesIn(query),
      options: (await scopeNames(visit)).map((name) => ({ value: name, label: verbatim(name) })),
    },
    {
      name: 'resources',
      label: 'Resources',
      hint: 'The parameter “resource”, with spaces between several. Empty: the server’s first audience.',
      value: held('resources'),
      alias: 'resource',
    },
    {
      name: 'details',
      label: 'Authorization details',
      hint: 'The parameter “authorization_details”, a JSON array. Or types alone, with spaces between several.',
      value: held('details'),
      alias: 'authorization_detail_types',
    },
    await one(organizationsIn(visit), { name: 'organization', label: 'Organization', none: 'None' }),
    {
      name: 'hook',
      label: 'Inline hook',
      value: held('hook'),
      options: [
        { value: '', label: 'Do not ask it' },
        { value: 'run', label: 'Ask it: the hook gets a request' },
      ],
    },
    ...signInFields(held),
    { name: 'prompt', label: 'Prompt', value: held('prompt'), options: PROMPTS.map(([value, label]) => ({ value, label })) },
  ];
}

/** A JSON array of details, or the names of their types. @throws {ApiError} validation */
function detailsIn(typed: string): Pick<SimulatedRequest, 'details' | 'detailTypes'> {
  if (!typed.startsWith('[')) return { details: [], detailTypes: spaceSeparated(typed.replace(/\s+/g, ' ')).slice(0, MOST_DETAILS) };
  const read = readDetails(typed);
  if ('problem' in read) throw validation([{ field: 'details', message: read.problem }]);
  return { details: read.details, detailTypes: [] };
}

const isGrant = (name: string): name is AccessGrantType => (ACCESS_GRANT_TYPES as readonly string[]).includes(name);

/** The simulated request of the URL. @throws {ApiError} validation */
async function questionIn(visit: ConsoleRequest): Promise<SimulatedRequest> {
  const { query } = visit;
  const held = (name: string): string => {
    const value = (query.get(name) ?? '').trim();
    return isPrintable(value) ? value : '';
  };
  const grant = held('grant');
  const prompt = held('prompt');
  if (held('application') === '') throw validation([{ field: 'application', message: 'is required' }]);
  const clientId = (await pickedId(applicationsIn(visit), 'application', held('application'))) ?? '';
  const actor = await pickedId(applicationsIn(visit), 'actor', held('actor'));
  return {
    clientId,
    actor,
    user: await pickedId(usersIn(visit), 'user', held('user')),
    grantType: isGrant(grant) ? grant : 'authorization_code',
    scopes: scopesIn(query),
    resources: spaceSeparated(held('resources').replace(/\s+/g, ' ')),
    ...detailsIn(held('details')),
    organization: await pickedId(organizationsIn(visit), 'organization', held('organization')),
    runHook: held('hook') === 'run',
    signIn: grant === 'client_credentials' ? undefined : signInIn(held),
    prompts: new Set(PROMPTS.some(([value]) => value === prompt) ? (spaceSeparated(prompt) as SimulatedPrompt[]) : []),
  };
}

const simulator: ConsolePage = {
  path: '/api/servers/:serverId/simulator',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const fields = await fieldsFor(visit);
    const { parts, problems } = visit.query.has('application') ? await answer(visit, subject.server.id) : NOT_ASKED;
    const typed: Typed = { values: asTyped(visit.query, fields), problems };
    const query: QueryPart = { kind: 'query', fields, typed, submit: 'Simulate' };
    return serverPage(subject, {
      lead: 'Preview the result of a token request, with the reasons. The same functions decide as for a real request; nothing is issued or changed. You can send the address of the result to another administrator.',
      parts: [query, ...parts],
    });
  },
};

/** Query without resolved references; those are shown by name. */
function asTyped(query: URLSearchParams, fields: readonly Field[]): URLSearchParams {
  const values = new URLSearchParams(query);
  values.delete('scopes');
  for (const scope of scopesIn(query)) values.append('scopes', scope);
  for (const { name, ...field } of fields) if (PICKED.includes(name) && 'value' in field && field.value) values.delete(name);
  return values;
}

const PICKED: readonly string[] = ['application', 'user', 'actor', 'organization'];

interface Answer {
  readonly parts: readonly Part[];
  readonly problems: readonly FieldMessage[];
}

const NOT_ASKED: Answer = { parts: [], problems: [] };

async function answer(visit: ConsoleRequest, serverId: string): Promise<Answer> {
  try {
    const question = await questionIn(visit);
    const found = await simulateRequest(visit.services, serverId, question, visit.request);
    return { parts: partsOf(found, { ...found, grantType: question.grantType, prompts: question.prompts }), problems: [] };
  } catch (error) {
    const problems = fieldMessages(error);
    if (problems === undefined) throw error;
    return { parts: [], problems };
  }
}

function partsOf(found: SimulatedResult, decided: Decided): readonly Part[] {
  const { access, scopes, consent, tokens } = found;
  const { tone, sentence } = verdictOf(decided);
  return [
    { kind: 'words', title: 'Result', tone, paragraphs: [sentence] },
    {
      kind: 'facts',
      title: 'Why',
      facts: [
        { label: 'Assignment', value: assignmentInWords(decided) },
        ...(found.heldRoles === undefined || found.heldRoles.length === 0
          ? []
          : [{ label: 'Roles', value: found.heldRoles.map(heldRoleInWords) }]),
        { label: 'Access policy', value: accessInWords(access) },
        { label: 'Consent', value: consentInWords(decided) },
        ...(found.requiredProvider === undefined
          ? []
          : [
              {
                label: 'Identity provider',
                value: phrase('The domain {domain} requires “{provider}”.', {
                  domain: shownDomain(found.requiredProvider.domain),
                  provider: found.requiredProvider.name,
                }),
              },
            ]),
        ...(found.organizationPolicy === undefined
          ? []
          : [{ label: 'Policy of the organization', value: organizationPolicyInWords(found.organizationPolicy) }]),
        ...(found.hook === undefined ? [] : [{ label: 'Inline hook', value: hookInWords(found.hook) }]),
        ...(found.responseType === undefined ? [] : [{ label: 'Response type', value: { text: found.responseType, code: true } }]),
      ],
    },
    {
      kind: 'table',
      title: 'Evaluated policies and rules',
      name: 'Evaluated policies and rules',
      columns: ['Policy', 'Rule', 'Result'],
      rows: access.reasons.map((step) => ({
        cells: [step.policy ?? '', step.rule === undefined ? { text: '–', soft: true } : step.rule, stepInWords(step)],
      })),
      empty: '',
    },
    ...(found.signIn === undefined || found.signIn.steps.length === 0 ? [] : [signInRulesOf(found.signIn, found.factors ?? [])]),
    {
      kind: 'table',
      title: 'Scopes',
      name: 'Scopes',
      columns: ['Scope', 'Result', 'Consent'],
      rows: scopes.requested.map((scope) => {
        const decision = consent?.find((one) => one.scope === scope && one.detail === undefined);
        return {
          cells: [
            { text: scope, code: true },
            scopeInWords(scope, decided),
            decision === undefined ? { text: 'Never required', soft: true } : consentRowInWords(decision),
          ],
        };
      }),
      empty: 'No scope was requested, and the server has no default scopes.',
    },
    ...detailsOf(found),
    ...(tokens === undefined ? [] : [lifetimesOf(found), ...decidedClaims(found), ...textsOf(found)]),
  ];
}

function detailsOf({ consent = [] }: SimulatedResult): readonly Part[] {
  const decisions = consent.filter(({ detail }) => detail !== undefined);
  if (decisions.length === 0) return [];
  const title = 'Authorization details';
  const rows = decisions.map((decision) => ({ cells: [{ text: decision.scope, code: true }, consentRowInWords(decision)] }));
  return [{ kind: 'table', title, name: title, columns: ['Type', 'Consent'], rows, empty: '' }];
}

export const serverSimulator: readonly ConsolePage[] = [simulator];
