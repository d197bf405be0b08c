/** Names and descriptions of scopes on pages: standard scopes in the page's language, others as the authorization server stores them. */
import { ENGLISH, isMessageKey, type Language } from '../../platform/i18n/messages.ts';

interface ScopeWords {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
}

/** Default texts of standard scopes in earlier versions. */
const FORMER: Readonly<Record<string, string>> = { 'scope.profile.description': 'Your name, nickname, profile page and time zone' };

/** The translated text, as long as the stored text is still a default; otherwise the stored text. */
function scopeText({ text }: Language, key: string, stored: string): string {
  return isMessageKey(key) && (ENGLISH.text(key) === stored || FORMER[key] === stored) ? text(key) : stored;
}

/** The scope as the page shows it. A description that only repeats the title is left out. */
export function inLanguage<S extends ScopeWords>(language: Language, scope: S): S {
  const displayName = scopeText(language, `scope.${scope.name}.name`, scope.displayName);
  const description = scopeText(language, `scope.${scope.name}.description`, scope.description);
  return { ...scope, displayName, description: description === displayName ? '' : description };
}
