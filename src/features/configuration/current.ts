/** The current configuration, read by the API in the form of the file. */
import { StartFailure } from '../../cli/lifecycle.ts';
import { type Document, isDocument } from './difference.ts';
import { addressFields, bodyPart, bodySchema, distinctKeys, hasStatusField, type Kind, keyOf, pathOf } from './kinds.ts';
import { type NameDirectory, replaceReferences } from './names.ts';
import type { ApiResponse, Service } from './service.ts';

/** An existing object. */
export interface Present {
  readonly kind: Kind;
  readonly key: string;
  /** Path in the API. */
  readonly path: string;
  /** Its body with names in place of IDs, and its status. */
  readonly document: Document;
  /** The part that operators can configure. */
  readonly open: Document;
  /** Does it belong to the service itself? Then it is not deleted. */
  readonly system: boolean;
  /** Is it not managed by the operator? Then it is neither deleted nor exported. */
  readonly foreign: boolean;
  /** Name of a secret field that is empty; undefined: none. */
  readonly lacksSecret: string | undefined;
}

/** This field is part of the file, even if the API changes it by separate calls. */
const STATUS = 'status';

/** All objects of a kind. @param within path of their parent */
export async function readAll(service: Service, directory: NameDirectory, kind: Kind, within = ''): Promise<readonly Present[]> {
  const responses = await responsesOf(service, kind, within);
  const read: Present[] = [];
  for (const response of responses) {
    const one = presentOf(kind, within, response);
    const document = await replaceReferences(one.document, kind.references ?? [], directory.names);
    // The file may use a name where the service has an ID.
    const key = keyOf(kind, document) ?? one.key;
    const open = openPart(document, kind.open?.(key));
    // A file cannot name an object without a key.
    if (key !== '' && Object.keys(open).length > 0) read.push({ ...one, key, document, open });
  }
  const refuse = (key: string) =>
    new StartFailure(`The service has two ${kind.noun}s “${key}”, which a file cannot tell apart. Rename or delete one of them.`);
  return distinctKeys(kind, read, refuse);
}

async function responsesOf(service: Service, kind: Kind, within: string): Promise<readonly ApiResponse[]> {
  const { names, isSet = () => true } = kind;
  if (names === undefined) return (await service.list(within + (kind.list ?? kind.path))).filter(isSet);
  const responses: ApiResponse[] = [];
  for (const id of names) responses.push({ ...(await service.get(within + pathOf(kind, { id }))), id });
  return responses;
}

/** @param fields undefined: all of them */
const openPart = (document: Document, fields: readonly string[] | undefined): Document =>
  fields === undefined ? document : Object.fromEntries(Object.entries(document).filter(([name]) => fields.includes(name)));

const isSystem = ({ open, lasting = [] }: Kind, key: string, response: ApiResponse): boolean =>
  response.system === true || open?.(key) !== undefined || lasting.includes(key);

function emptySecretOf({ passwordSet, delivery }: ApiResponse): string | undefined {
  if (passwordSet === false) return 'password';
  return isDocument(delivery) && delivery.hasAuthorizationHeader === false ? 'delivery.authorizationHeader' : undefined;
}

/** Converts a response of the API; references are IDs. */
export function presentOf(kind: Kind, within: string, response: ApiResponse): Omit<Present, 'open'> {
  const path = within + pathOf(kind, response);
  const schema = bodySchema('PUT', path);
  const body = bodyPart(schema, response);
  const withStatus = hasStatusField(schema) || response[STATUS] === undefined ? body : { ...body, [STATUS]: response[STATUS] };
  // The API may return an identifying value only at creation.
  const key = keyOf(kind, response) ?? '';
  const known = Object.fromEntries(addressFields(kind).map((name) => [name, response[name]]));
  const system = isSystem(kind, key, response);
  const foreign = kind.isForeign?.(response) === true;
  return { kind, key, path, document: { ...known, ...withStatus }, system, foreign, lacksSecret: emptySecretOf(response) };
}

/** @returns every section with its objects and their inner sections: a file without any changes */
export async function readSections(service: Service, directory: NameDirectory, kinds: readonly Kind[], within = ''): Promise<Document> {
  const sections: Record<string, unknown> = {};
  for (const kind of kinds) {
    const things: Document[] = [];
    for (const one of await readAll(service, directory, kind, within)) {
      if (one.foreign) continue;
      const inside = kind.open?.(one.key) === undefined ? await readSections(service, directory, kind.inner, one.path) : {};
      things.push({ ...one.open, ...inside });
    }
    // Empty sections are included: a server without policies refuses everyone, but one created from a file without this section allows everyone.
    sections[kind.section] = things;
  }
  return sections;
}
