/** A group of settings on an application page: its fields and facts, and the service input from its submitted form. */
import { z } from 'zod';
import type { Content, Fact, Piece } from '../../pages/console/detail-page.ts';
import { type Field, type Option, typedValues } from '../../pages/console/form.ts';
import type { Dependence } from '../../pages/console/form-layout.ts';
import { validation } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { GivenSettings } from './application-settings.policy.ts';
import { applicationLabel, clientFields, credentialFields } from './application-settings.service.ts';
import type { Application } from './applications.resource.ts';
import { targetsIn } from './settings/id-jag-targets.console.ts';

// Converts the submitted form of a settings group to service input.

const fieldsOfSettings = { ...credentialFields, ...clientFields };
const schema = z.object({ label: applicationLabel.optional(), ...fieldsOfSettings });
const SETTINGS = Object.keys(fieldsOfSettings);

interface Changes {
  readonly label: string | undefined;
  /** The settings of the form's fields; undefined: emptied. */
  readonly settings: GivenSettings;
}

const isChosen = ({ field, value }: Dependence, typed: Readonly<Record<string, unknown>>): boolean =>
  value === undefined ? typed[field] !== '' : String(typed[field]) === value;

/** Settings that depend on another choice are emptied. @throws {ApiError} validation, with the fields' names */
export function changesIn(fields: readonly Field[], form: URLSearchParams): Changes {
  const typed = typedValues(fields, form);
  const given: Record<string, unknown> = {};
  for (const { name } of fields) given[name] = typed[name] === '' ? undefined : typed[name];
  if ('label' in given) given.label = typed.label;
  for (const { name, when } of fields) if (SETTINGS.includes(name) && when !== undefined && !isChosen(when, typed)) given[name] = undefined;
  // Merge settings that consist of several form fields.
  if ('mfa_required' in given) given.mfa_required = given.mfa_required === 'true' ? true : undefined;
  if ('profile' in given && given.profile === undefined) given.profile = null;
  for (const name of ['token_exchange_audiences', 'authorization_details_types'])
    if (Array.isArray(given[name]) && given[name].length === 0) given[name] = undefined;
  if (Array.isArray(given.id_jag_targets)) given.id_jag_targets = targetsIn(given.id_jag_targets as string[]);
  if ('leeway' in given) given.refresh_token = { rotation_type: given.rotation_type, leeway: given.leeway };
  if (given.jwks !== undefined) given.jwks = readJson(String(given.jwks));
  const { label, ...settings } = parse(schema, given);
  const emptied = Object.fromEntries(SETTINGS.filter((name) => name in given).map((name) => [name, undefined]));
  return { label, settings: { ...emptied, ...settings } };
}

/** @throws {ApiError} validation */
export function readJson(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    throw validation([{ field: 'jwks', message: 'must be a JSON Web Key Set: {"keys": […]}' }]);
  }
}

/** Objects that the settings of an application refer to. */
export interface GroupContext {
  /** External identity providers to choose from. */
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

export type Tab = 'settings' | 'credentials' | 'branding';

export interface SettingGroup {
  /** For URLs. */
  readonly id: string;
  readonly title: Text;
  readonly lead?: Text;
  readonly tab: Tab;
  fields(application: Application, around: GroupContext): readonly Field[];
  facts(application: Application, around: GroupContext): readonly Fact[];
}

/** A field of a setting, with the setting's path in the API, which services use in errors. */
export const setting = <F extends Field>(field: F): F => ({
  ...field,
  alias: [`settings.oauthClient.${field.name}`, `credentials.oauthClient.${field.name}`],
});

export const lines = (values: readonly string[] | undefined): string => (values ?? []).join('\n');
export const codes = (values: readonly string[] | undefined): Content => (values ?? []).map((text): Piece => ({ text, code: true }));
export const code = (text: string | undefined): Content => ({ text: text ?? '', code: true });
export const yes = (is: boolean | undefined): Phrase => phrase(is ? 'Yes' : 'No');
/** Options for an algorithm, none of them first. */
export const algOptions = (algs: readonly string[]): readonly Option[] => [
  { value: '', label: 'Any that is supported' },
  ...algs.map((alg) => ({ value: alg, label: verbatim(alg) })),
];
export const labelled = (options: readonly Option[], value: string): Phrase =>
  asPhrase(options.find((option) => option.value === value)?.label ?? verbatim(value));
