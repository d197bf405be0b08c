/** A group of settings on an application page: its fields and facts. */

import type { Content, Fact, Piece } from '../../pages/console/detail-page.ts';
import type { Field, Option } from '../../pages/console/form.ts';
import { asPhrase, type Phrase, phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import type { Application } from './applications.resource.ts';

/** Objects that the settings of an application refer to. */
export interface GroupSurroundings {
  /** All external identity providers. */
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

export type Tab = 'settings' | 'credentials' | 'branding';

export interface SettingGroup {
  /** For addresses. */
  readonly id: string;
  readonly title: Text;
  readonly lead?: Text;
  readonly tab: Tab;
  fields(application: Application, around: GroupSurroundings): readonly Field[];
  facts(application: Application, around: GroupSurroundings): readonly Fact[];
}

/** A field of a setting: the services complain of it under its place in the body of the API. */
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
