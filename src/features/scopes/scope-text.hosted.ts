/** Names and descriptions of scopes on pages, in the page's language if there is a translation: the operator's, or for standard scopes ours. */
import { ENGLISH, isMessageKey, type Language } from '../../platform/i18n/messages.ts';
import type { Scope } from './scopes.resource.ts';

interface ScopeWords {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly translations?: Scope['translations'] | null;
}

/** Default texts of standard scopes in earlier versions. */
const FORMER: Readonly<Record<string, string>> = { 'scope.profile.description': 'Your name, nickname, profile page and time zone' };

/** The product's translation, as long as the stored text is still a default; otherwise the stored text. */
function scopeText({ text }: Language, key: string, stored: string): string {
  return isMessageKey(key) && (ENGLISH.text(key) === stored || FORMER[key] === stored) ? text(key) : stored;
}

/** The scope as the page shows it. A description that only repeats the title is left out. */
export function inLanguage<S extends ScopeWords>(language: Language, scope: S): S {
  const own = scope.translations?.[language.lang] ?? {};
  const displayName = own.displayName || scopeText(language, `scope.${scope.name}.name`, scope.displayName);
  const description = own.description || scopeText(language, `scope.${scope.name}.description`, scope.description);
  return { ...scope, displayName, description: description === displayName ? '' : description };
}
