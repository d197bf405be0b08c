/** The rules of the sign-in policy: a table on its page, and the forms that create, change, move and delete one. A rule is identified by its name. */
import type { TablePart } from '../../pages/console/detail-page.ts';
import { type Field, formPage, type Option, typedValues } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { notFound, validation } from '../../platform/errors/errors.ts';
import { counted, type Phrase, phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { zoneNames } from '../network-zones/network-zones.service.ts';
import { decideSettings, readSettings } from '../settings/settings.service.ts';
import { hasCountries } from '../sign-in-countries/sign-in-countries.service.ts';
import { MOST_RULES, type SignInAction, type SignInConditions, type SignInRule } from './sign-in-rules.policy.ts';
import { signInRule } from './sign-in-rules.resource.ts';

const POLICY = '/admin/security/sign-in-policy';
const HOME = `${POLICY}/rules`;
const CRUMBS: readonly Crumb[] = [{ label: 'Security' }, { label: 'Sign-in policy', href: POLICY }];
const addressOf = (name: string): string => `${HOME}/${encodeURIComponent(name)}`;

const ACTIONS: Readonly<Record<SignInAction, readonly [label: string, hint: string]>> = {
  ALLOW: ['Allow', 'As in the rest of the sign-in policy. Put such a rule before the rules that refuse.'],
  SECOND_FACTOR: [
    'Ask for a second factor',
    'Also in trusted browsers. Users without a factor are refused: a factor set up at such a sign-in proves nothing.',
  ],
  DENY: ['Refuse', 'Nobody signs in. Check that you do not lock yourself out: API tokens still work.'],
};

const BROWSERS: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'new', label: 'New: the user has not signed in with it before' },
  { value: 'known', label: 'Known: the user has signed in with it before' },
];

const COUNTRIES: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'new', label: 'New: the user has not signed in from it for a year' },
  { value: 'known', label: 'Known: the user has signed in from it within a year' },
];

const stateOf = (isNew: boolean | undefined): string => (isNew === undefined ? '' : isNew ? 'new' : 'known');

/** Description of the rule's conditions. */
function conditionsInWords({ zones, newBrowser, newCountry, daysSinceLastSignIn }: SignInConditions): Phrase {
  const words = [
    ...(zones?.include === undefined ? [] : [phrase('from {zones}', { zones: series(zones.include) })]),
    ...(zones?.exclude === undefined ? [] : [phrase('not from {zones}', { zones: series(zones.exclude) })]),
    ...(newBrowser === undefined ? [] : [phrase(newBrowser ? 'in a new browser' : 'in a known browser')]),
    ...(newCountry === undefined ? [] : [phrase(newCountry ? 'from a new country' : 'from a known country')]),
    ...(daysSinceLastSignIn === undefined
      ? []
      : [counted(daysSinceLastSignIn, 'last sign-in {count} day ago or longer', 'last sign-in {count} days ago or longer')]),
  ];
  return words.length === 0 ? phrase('every sign-in') : series(words);
}

/** The table on the page of the policy. */
export function signInRulesTable({ request }: ConsoleRequest, rules: readonly SignInRule[]): TablePart {
  const mayChange = mayCall(request.roles, 'service', 'write');
  const create = { label: 'Create rule', href: `${HOME}/new` };
  return {
    kind: 'table',
    title: 'Rules',
    lead: 'Evaluated top to bottom for each sign-in. The first rule that matches decides; if none matches, the policy above applies.',
    name: 'Rules',
    columns: ['Name', 'For', 'Action'],
    actions: mayChange && rules.length > 0 && rules.length < MOST_RULES ? [create] : [],
    rows: rules.map(({ name, conditions, action }) => ({
      cells: [mayChange ? { text: name, href: addressOf(name) } : name, conditionsInWords(conditions), phrase(ACTIONS[action][0])],
      actions: mayChange ? [{ label: 'Delete', href: `${addressOf(name)}/delete` }] : [],
    })),
    empty: 'No rules. The policy above applies to every sign-in.',
    ...(mayChange && { emptyAction: create }),
  };
}

async function fieldsFor({ services }: ConsoleRequest, rules: readonly SignInRule[], now?: SignInRule): Promise<readonly Field[]> {
  const zones = (await zoneNames(services)).map((value) => ({ value, label: verbatim(value) }));
  const { conditions = {} } = now ?? {};
  const others = rules.filter((rule) => rule !== now);
  const place = now === undefined ? others.length : rules.indexOf(now);
  return [
    { name: 'name', label: 'Name', required: true, value: now?.name },
    ...(zones.length === 0
      ? []
      : [
          {
            name: 'include',
            label: 'From the zones',
            kind: 'checks' as const,
            options: zones,
            values: conditions.zones?.include,
            hint: 'None: from anywhere.',
          },
          { name: 'exclude', label: 'Not from the zones', kind: 'checks' as const, options: zones, values: conditions.zones?.exclude },
        ]),
    {
      name: 'browser',
      label: 'Browser',
      options: BROWSERS,
      value: stateOf(conditions.newBrowser),
      alias: 'conditions.newBrowser',
    },
    {
      name: 'country',
      label: 'Country',
      options: COUNTRIES,
      value: stateOf(conditions.newCountry),
      alias: 'conditions.newCountry',
      hint: hasCountries(services)
        ? 'By the IP address. An address without a known country matches neither choice, and neither does a user’s first recorded sign-in.'
        : 'Never matches: there is no database of countries. Set GEO_DATABASE_FILE first.',
    },
    {
      name: 'daysSinceLastSignIn',
      label: 'Time since the last sign-in',
      kind: 'duration',
      unit: 'day',
      value: conditions.daysSinceLastSignIn === undefined ? '' : String(conditions.daysSinceLastSignIn),
      hint: 'At least this many. Empty: any time. Users who never signed in do not match.',
      alias: 'conditions.daysSinceLastSignIn',
    },
    {
      name: 'action',
      label: 'Action',
      kind: 'radios',
      value: now?.action ?? 'SECOND_FACTOR',
      options: (Object.keys(ACTIONS) as SignInAction[]).map((value) => ({ value, label: ACTIONS[value][0], hint: ACTIONS[value][1] })),
    },
    {
      name: 'place',
      label: 'Place',
      value: String(place),
      options: [phrase('First'), ...others.map(({ name }) => phrase('After “{name}”', { name }))].map((label, at) => ({
        value: String(at),
        label,
      })),
    },
  ];
}

/** @throws {ApiError} validation */
function ruleIn(fields: readonly Field[], form: URLSearchParams): { readonly rule: SignInRule; readonly place: number } {
  const typed = typedValues(fields, form);
  const list = (name: string) => (Array.isArray(typed[name]) && typed[name].length > 0 ? (typed[name] as string[]) : undefined);
  const [include, exclude] = [list('include'), list('exclude')];
  const rule = parse(signInRule, {
    name: typed.name,
    conditions: {
      ...((include ?? exclude) && { zones: { ...(include && { include }), ...(exclude && { exclude }) } }),
      ...(typed.browser === 'new' || typed.browser === 'known' ? { newBrowser: typed.browser === 'new' } : {}),
      ...(typed.country === 'new' || typed.country === 'known' ? { newCountry: typed.country === 'new' } : {}),
      ...(typed.daysSinceLastSignIn !== undefined && { daysSinceLastSignIn: typed.daysSinceLastSignIn }),
    },
    action: typed.action,
  });
  const place = Number(typed.place);
  return { rule, place: Number.isInteger(place) ? place : MOST_RULES };
}

/** @param former the rule that is replaced @throws {ApiError} validation, not found */
async function store({ services, request }: ConsoleRequest, former: string | undefined, rule: SignInRule, place: number): Promise<void> {
  await decideSettings(
    services,
    'sign-in',
    ({ rules = [], ...rest }) => {
      if (former !== undefined && !rules.some(({ name }) => name === former)) throw notFound(former, 'Rule');
      const others = rules.filter(({ name }) => name !== former);
      if (others.some(({ name }) => name === rule.name))
        throw validation([{ field: 'name', message: 'another rule has this name. Choose another name' }]);
      if (others.length >= MOST_RULES)
        throw validation([{ field: 'name', message: `the limit of ${MOST_RULES} rules is reached. Delete one first` }]);
      return { ...rest, rules: [...others.slice(0, place), rule, ...others.slice(place)] };
    },
    request,
  );
}

async function rulesNow({ services, params }: ConsoleRequest) {
  const { rules } = await readSettings(services, 'sign-in');
  return { rules, rule: rules.find(({ name }) => name === params.name) };
}

/** @throws {ApiError} not found */
async function ruleOf(visit: ConsoleRequest) {
  const { rules, rule } = await rulesNow(visit);
  if (rule === undefined) throw notFound(visit.params.name ?? '', 'Rule');
  return { rules, rule };
}

const create: ConsolePage = {
  path: '/security/sign-in-policy/rules/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const fields = await fieldsFor(visit, (await rulesNow(visit)).rules);
    return formPage({ title: 'Create rule', crumbs: CRUMBS, fields, submit: 'Create rule', cancel: POLICY }, typed);
  },
  async receive(visit, form) {
    const { rule, place } = ruleIn(await fieldsFor(visit, (await rulesNow(visit)).rules), form);
    await store(visit, undefined, rule, place);
    return { goTo: POLICY, notice: 'rule-created' };
  },
};

const edit: ConsolePage = {
  path: '/security/sign-in-policy/rules/:name',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { rules, rule } = await ruleOf(visit);
    const fields = await fieldsFor(visit, rules, rule);
    return formPage({ title: verbatim(rule.name), crumbs: CRUMBS, fields, submit: 'Save', cancel: POLICY }, typed);
  },
  async receive(visit, form) {
    const { rules, rule: former } = await ruleOf(visit);
    const { rule, place } = ruleIn(await fieldsFor(visit, rules, former), form);
    await store(visit, former.name, rule, place);
    return { goTo: POLICY, notice: 'rule-changed' };
  },
};

const remove: ConsolePage = {
  path: '/security/sign-in-policy/rules/:name/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { rule, rules } = await ruleOf(visit);
    const next = rules.slice(rules.indexOf(rule) + 1);
    const facts = [
      phrase('Sign-ins that it matched are then decided by {rules} after it and the rest of the sign-in policy.', {
        rules: countOf(next.length, 'rule'),
      }),
      'This cannot be undone.',
    ];
    const title = phrase('Delete the rule “{rule}”?', { rule: rule.name });
    return formPage({ title, crumbs: CRUMBS, facts, submit: 'Delete rule', danger: true, cancel: POLICY }, typed);
  },
  async receive(visit) {
    const { rule } = await ruleOf(visit);
    const without = ({ rules = [], ...rest }: Parameters<Parameters<typeof decideSettings<'sign-in'>>[2]>[0]) => ({
      ...rest,
      rules: rules.filter(({ name }) => name !== rule.name),
    });
    await decideSettings(visit.services, 'sign-in', without, visit.request);
    return { goTo: POLICY, notice: 'rule-deleted' };
  },
};

export const signInRulePages: readonly ConsolePage[] = [create, edit, remove];
