/** Describes schemas of the API in words: type, constraints and an example of each field. Supports the part of JSON Schema that zod generates. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** One line of a list of fields. */
export interface DocumentedField {
  /** Path of the field, e.g. `profile.login`; `[]` after a list. */
  readonly name: string;
  /** Short description of the type, e.g. `list of text`. */
  readonly type: string;
  /** The named schema of the field or of the list's elements. */
  readonly schema: string | undefined;
  readonly constraints: readonly string[];
  readonly required: boolean;
  readonly description: string;
}

const nameIn = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** The schema without its null alternative. */
function unwrapped(schema: Schema): { readonly schema: Schema; readonly nullable: boolean } {
  const types: readonly string[] = [schema.type ?? []].flat();
  const [kind = '', ...more] = types.filter((type) => type !== 'null');
  if (types.length === 2 && more.length === 0) return { schema: { ...schema, type: kind }, nullable: true };
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = others;
  if (only === undefined || others.length > 1 || others.length === schema.anyOf?.length) return { schema, nullable: false };
  const { anyOf: _, ...outer } = schema;
  return { schema: { ...only, ...outer }, nullable: true };
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'time', uri: 'URL', email: 'e-mail address', uuid: 'UUID' };
const TYPES: Readonly<Record<string, string>> = { integer: 'whole number', boolean: 'true or false', string: 'text' };

/** @returns e.g. `text`, `list of User`, `ACTIVE or INACTIVE` */
export function typeOf(given: Schema): string {
  const { schema } = unwrapped(given);
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(String).join(' or ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(' or ');
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  return FORMATS[schema.format ?? ''] ?? TYPES[schema.type ?? ''] ?? schema.type ?? 'anything';
}

/** The named schema of a value or of a list's elements. */
export function schemaOf({ $ref, items }: Schema): string | undefined {
  const ref = $ref ?? items?.$ref;
  return ref && nameIn(ref);
}

function span(least: number | undefined, most: number | undefined, unit = ''): string[] {
  const isBounded = most !== undefined && most < Number.MAX_SAFE_INTEGER;
  if (least !== undefined && least > 0 && isBounded) return [`${least} to ${most}${unit}`];
  if (isBounded) return [`at most ${most}${unit}`];
  return least !== undefined && least > 0 ? [`at least ${least}${unit}`] : [];
}

const LONGEST_PATTERN = 60;

export function constraintsOf(given: Schema): string[] {
  const { schema, nullable } = unwrapped(given);
  const isPlain = schema.format === undefined && schema.type === 'string';
  return [
    ...span(schema.minLength, schema.maxLength, ' characters'),
    ...span(schema.minimum, schema.maximum),
    ...span(schema.minItems, schema.maxItems, ' elements'),
    ...(isPlain && schema.pattern !== undefined && schema.pattern.length <= LONGEST_PATTERN ? [`like ${schema.pattern}`] : []),
    ...(nullable ? ['or null'] : []),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ];
}

/** @returns the fields of an object, each followed by those of the object in it */
export function fieldsOf(given: Schema, within = ''): DocumentedField[] {
  const { schema } = unwrapped(given);
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = within + key;
    const { schema: inner } = unwrapped(field);
    const line: DocumentedField = {
      name,
      type: typeOf(field),
      schema: schemaOf(inner),
      constraints: constraintsOf(field),
      required: schema.required?.includes(key) === true,
      description: field.description ?? '',
    };
    const deeper = inner.type === 'array' ? fieldsOf(inner.items ?? {}, `${name}[].`) : fieldsOf(inner, `${name}.`);
    return [line, ...deeper];
  });
}

const EXAMPLES: Readonly<Record<string, string>> = {
  'date-time': '2030-01-01T00:00:00.000Z',
  uri: 'https://example.com/',
  email: 'ada@example.com',
};

/** @returns a valid value with the required fields, or if there are none, the first field */
export function exampleOf(given: Schema): unknown {
  const { schema } = unwrapped(given);
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first !== undefined) return exampleOf(first);
  switch (schema.type) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {});
      const needed = fields.filter(([key]) => schema.required?.includes(key));
      const shown = needed.length > 0 ? needed : fields.slice(0, 1);
      return Object.fromEntries(shown.map(([key, field]) => [key, exampleOf(field)]));
    }
    case 'array':
      return [exampleOf(schema.items ?? {})];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return EXAMPLES[schema.format ?? ''] ?? 'Example'.padEnd(schema.minLength ?? 0, '-');
  }
}
