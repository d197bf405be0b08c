/**
 * Plans the steps from the current to the wanted state: first all are found, then shown, and executed in an order in which each refers only to
 * existing objects. A step is one API call, so it is one transaction with its audit event; an interrupted plan is continued by the next one.
 */

import { StartFailure } from '../../cli/lifecycle.ts';
import { inWords, schemaProblems } from '../../platform/validation/parsing.ts';
import { SYSTEM_APPLICATIONS } from '../applications/application-settings.policy.ts';
import { type Present, presentOf, readAll } from './current.ts';
import { areSame, combined, type Difference, type Document, differences } from './difference.ts';
import type { Sections, Wanted } from './file.ts';
import { bodySchema, hasStatusField, type Kind, pathOf, statusesOf, valueAt, withoutAddress } from './kinds.ts';
import { type Expected, expecting, expectingRoles, type NameDirectory, replaceReferences } from './names.ts';
import { ChangeOrder, inWantedOrder } from './order.ts';
import { holdsSecret, withoutSecrets, withSecrets } from './secrets.ts';
import { ApiRefusal, type ApiResponse, type Service } from './service.ts';

export interface PlanStep {
  readonly verb: 'create' | 'change' | 'delete' | 'leave';
  readonly noun: string;
  /** As in the file: `default / policy Everything / rule Everyone`. */
  readonly name: string;
  readonly fields: readonly Difference[];
  /** @returns lines to print */
  execute(): Promise<readonly string[]>;
}

export interface PlanContext {
  readonly service: Service;
  readonly directory: NameDirectory;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Delete objects that the file does not contain? Only in sections that the file contains. */
  readonly deleting: boolean;
}

/** Location of objects: top level, or inside an existing object. */
interface Place {
  readonly path: string;
  readonly name: string;
}

const TOP: Place = { path: '', name: '' };

/** @throws {StartFailure} the file contains something invalid */
export async function plan(context: PlanContext, sections: Sections, kinds: readonly Kind[]): Promise<PlanStep[]> {
  const expected = expectedIn(context, sections);
  const directory = expecting(context.directory, {
    applications: expected('applications', [...SYSTEM_APPLICATIONS, ...(await foreignIn(context, sections, kinds, 'applications'))]),
    identityProviders: expected('identityProviders'),
    inlineHooks: expected('inlineHooks'),
    groups: expected('groups', await foreignIn(context, sections, kinds, 'groups')),
  });
  const { steps, deletions } = await compareSections({ ...context, directory }, sections, kinds, TOP);
  return [...steps, ...deletions.reverse()];
}

const expectedIn =
  ({ deleting }: PlanContext, sections: Sections) =>
  (section: string, lasting: readonly string[] = []): Expected => {
    const wanted = sections.get(section);
    const names = new Set([...(wanted ?? []).map(({ key }) => key), ...lasting]);
    return { names, alone: deleting && wanted !== undefined };
  };

/** Keys of foreign objects. `--delete` keeps them, although the file does not have them. */
async function foreignIn(
  { service, directory, deleting }: PlanContext,
  sections: Sections,
  kinds: readonly Kind[],
  section: string,
): Promise<string[]> {
  const kind = kinds.find((one) => one.section === section);
  if (!deleting || kind === undefined || !sections.has(section)) return [];
  return (await readAll(service, directory, kind)).filter(({ foreign }) => foreign).map(({ key }) => key);
}

/** Context for the inner sections of an object. @param path undefined: it does not exist yet */
const inside = (context: PlanContext, { inner }: Wanted, path: string | undefined): PlanContext => ({
  ...context,
  directory: expectingRoles(context.directory, context.service, path, expectedIn(context, inner)('roles')),
});

interface Found {
  readonly steps: PlanStep[];
  /** In the order of the kinds. They run in reverse order, so that referenced objects are deleted after those that refer to them. */
  readonly deletions: PlanStep[];
}

async function compareSections(context: PlanContext, sections: Sections, kinds: readonly Kind[], place: Place): Promise<Found> {
  const all: Found = { steps: [], deletions: [] };
  for (const kind of kinds) {
    const wanted = sections.get(kind.section);
    if (wanted === undefined) continue;
    const { steps, deletions } = await compareSection(context, kind, wanted, place);
    all.steps.push(...steps);
    all.deletions.push(...deletions);
  }
  return all;
}

async function compareSection(context: PlanContext, kind: Kind, wanted: readonly Wanted[], place: Place): Promise<Found> {
  const present = new Map((await readAll(context.service, context.directory, kind, place.path)).map((one) => [one.key, one]));
  const found: Found = { steps: [], deletions: [] };
  const order = new ChangeOrder(present.values());
  for (const one of kind.ordered ? inWantedOrder(wanted, present) : wanted) {
    const is = present.get(one.key);
    if (is === undefined) {
      order.put(one);
      found.steps.push(await creation(context, one, place));
      continue;
    }
    found.steps.push(...(await change(context, one, kind.ordered ? order.asMoved(is, one) : is, place)));
    order.put(one);
    const below = placeOf(kind, one.key, is.path, place);
    const { steps, deletions } = await compareSections(inside(context, one, is.path), one.inner, kind.inner, below);
    found.steps.push(...steps);
    found.deletions.push(...deletions);
  }
  const named = new Set(wanted.map(({ key }) => key));
  for (const one of present.values())
    if (!named.has(one.key) && !one.system && !one.foreign) found.deletions.push(removal(context, one, place));
  return found;
}

const nameIn = (place: Place, noun: string, key: string): string => (place.name === '' ? key : `${place.name} / ${noun} ${key}`);
const placeOf = (kind: Kind, key: string, path: string, place: Place): Place => ({ path, name: nameIn(place, kind.noun, key) });

/** @returns the body as the API parses it, e.g. trimmed and without duplicate names @throws {StartFailure} naming the field */
function check(method: 'POST' | 'PUT', path: string, body: Document, name: string): Document {
  const { error, data } = bodySchema(method, path).safeParse(body, { error: inWords });
  if (error === undefined) return data as Document;
  const problems = schemaProblems(error).map(({ field, message }) => `${field} ${message}`);
  throw new StartFailure(`${name}: ${problems.join('; ')}.`);
}

/** Separates the status from the body, if the API changes it by separate calls. */
function split(method: 'POST' | 'PUT', path: string, document: Document): { readonly body: Document; readonly status: unknown } {
  if (hasStatusField(bodySchema(method, path))) return { body: document, status: undefined };
  const { status, ...body } = document;
  return { body, status };
}

function checkStatus(kind: Kind, status: unknown, name: string): void {
  const words = Object.keys(statusesOf(kind));
  if (status !== undefined && !words.includes(String(status)))
    throw new StartFailure(`${name}: status must be ${words.join(', ').replace(/, (?=[^,]+$)/, ' or ')}.`);
}

async function setStatus({ service }: PlanContext, kind: Kind, path: string, status: unknown): Promise<void> {
  await service.send('POST', `${path}/lifecycle/${statusesOf(kind)[String(status)]}`);
}

/**
 * Called when the plan is made, to find missing objects, and again when a step is executed: objects that were created meanwhile have an ID by then.
 */
const withIds = ({ directory }: PlanContext, { references = [] }: Kind, body: Document): Promise<Document> =>
  replaceReferences(body, references, directory.ids);

/** @throws {StartFailure} with the object and the field that refers to a missing object */
const checkReferences = (what: Promise<Document>, name: string): Promise<Document> =>
  what.catch((error: unknown) => {
    throw error instanceof StartFailure && !(error instanceof ApiRefusal) ? new StartFailure(`${name}: ${error.message}`) : error;
  });

/** Spells references as the service does, e.g. user names, which are found regardless of case. */
const withServiceSpelling = async ({ directory }: PlanContext, { references = [] }: Kind, document: Document): Promise<Document> =>
  replaceReferences(await replaceReferences(document, references, directory.ids), references, directory.names);

interface CreationRequest {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly given: Document;
  readonly body: Document;
  readonly status: unknown;
}

/** The request that creates an object; PUT if it has a fixed address. @param within path of its parent @param document with names or IDs */
function creationRequest(kind: Kind, within: string, document: Document): CreationRequest {
  const method = kind.address === undefined ? 'POST' : 'PUT';
  const path = within + (method === 'POST' ? kind.path : pathOf(kind, document));
  const given = combined({}, method === 'POST' ? document : withoutAddress(kind, document), kind.whole);
  return { method, path, given, ...split(method, path, given) };
}

/** Checks the requests that create an object and its inner objects. @throws {StartFailure} naming the object and the field */
async function checkCreation(context: PlanContext, wanted: Wanted, within: string, name: string): Promise<CreationRequest> {
  const { kind, document, inner } = wanted;
  const made = creationRequest(kind, within, document);
  checkStatus(kind, made.status, name);
  check(made.method, made.path, withoutSecrets(made.body), name);
  const below = inside(context, wanted, undefined);
  for (const thing of [...inner.values()].flat())
    await checkCreation(below, thing, `${made.path}/new`, `${name} / ${thing.kind.noun} ${thing.key}`);
  await checkReferences(withIds(context, kind, document), name);
  return made;
}

async function creation(context: PlanContext, wanted: Wanted, place: Place): Promise<PlanStep> {
  const { kind, key, document } = wanted;
  const name = nameIn(place, kind.noun, key);
  const { given, body, status } = await checkCreation(context, wanted, place.path, name);
  const complete = withSecrets(document, context.env);
  return {
    verb: 'create',
    noun: kind.noun,
    name,
    fields: [...differences({}, withoutSecrets(given), kind.whole), ...insideOf(wanted)],
    async execute() {
      const request = creationRequest(kind, place.path, await withIds(context, kind, complete));
      const response = await context.service.send(request.method, request.path, request.body);
      const made = presentOf(kind, place.path, response);
      if (status !== undefined && status !== response.status) await setStatus(context, kind, made.path, status);
      return [...secretLines(name, response, body), ...(await fill(context, wanted, made, place))];
    },
  };
}

const insideOf = ({ inner }: Wanted): Difference[] =>
  [...inner].map(([section, things]) => ({ field: section, is: undefined, wanted: things.map(({ key }) => key) }));

/**
 * Fills a new object. Defaults that the service created and the file omits are deleted first: a new authorization server has a policy that allows
 * everything, and a plan that stops midway must not leave it.
 */
async function fill(context: PlanContext, wanted: Wanted, made: Pick<Present, 'path'>, place: Place): Promise<string[]> {
  const { kind, key, inner } = wanted;
  const filling = inside({ ...context, deleting: true }, wanted, made.path);
  const { steps, deletions } = await compareSections(filling, inner, kind.inner, placeOf(kind, key, made.path, place));
  const lines: string[] = [];
  for (const step of [...deletions, ...steps]) lines.push(...(await step.execute()));
  return lines;
}

/** Lines with the generated secrets, which are returned only once. @param given the sent secrets, which are not reported */
function secretLines(name: string, { credentials, signingSecret }: ApiResponse, given: Document = {}): string[] {
  const secret = (credentials as { oauthClient?: { client_secret?: unknown } } | undefined)?.oauthClient?.client_secret;
  return Object.entries({ client_secret: holdsSecret(given) ? undefined : secret, signingSecret }).flatMap(([field, value]) =>
    typeof value === 'string' ? [`${name}: ${field} ${value}`] : [],
  );
}

async function change(context: PlanContext, { kind, key, document }: Wanted, is: Present, place: Place): Promise<PlanStep[]> {
  const name = nameIn(place, kind.noun, key);
  // A secret is sent at creation; afterwards it cannot be compared.
  const given = withoutSecrets(document);
  // Objects with a fixed address are never created: their secret is sent with any change, and if they have none.
  const secret = (kind.address !== undefined || kind.resends) && holdsSecret(document) ? withSecrets(document, context.env) : undefined;
  const missing = secret === undefined ? undefined : is.lacksSecret;
  if (differences(is.open, given, kind.whole).length === 0 && missing === undefined) return [];
  const wanted = await checkReferences(withServiceSpelling(context, kind, given), name);
  const unlike = differences(is.open, wanted, kind.whole);
  if (unlike.length === 0 && missing === undefined) return [];
  const combination = withoutAddress(kind, combined(is.document, secret ?? wanted, kind.whole));
  const { body, status } = split('PUT', is.path, combination);
  checkStatus(kind, status, name);
  const read = check('PUT', is.path, body, name);
  const fields = unlike.filter((one) => one.wanted === undefined || !areSame(one.is, valueAt(read, one.field)));
  if (missing !== undefined) fields.push({ field: missing, is: undefined, wanted: 'from the environment' });
  if (fields.length === 0) return [];
  await checkReferences(withIds(context, kind, body), name);
  return [
    {
      verb: 'change',
      noun: kind.noun,
      name,
      fields,
      async execute() {
        const onlyStatus = status !== undefined && fields.every(({ field }) => field === 'status');
        const response = onlyStatus ? {} : await context.service.send('PUT', is.path, await withIds(context, kind, body));
        if (status !== undefined && status !== is.document.status) await setStatus(context, kind, is.path, status);
        return secretLines(name, response);
      },
    },
  ];
}

function removal({ service, deleting }: PlanContext, { kind, key, path }: Present, place: Place): PlanStep {
  return {
    verb: deleting ? 'delete' : 'leave',
    noun: kind.noun,
    name: nameIn(place, kind.noun, key),
    fields: [],
    async execute() {
      if (deleting) await service.send('DELETE', path);
      return [];
    },
  };
}
