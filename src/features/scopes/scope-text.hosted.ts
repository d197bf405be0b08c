/** Scopes in words: those of the service in the page's language, others as their authorization server tells them. */
import { en } from '../../platform/i18n/messages/en.ts';
import { isMessageKey, type Language } from '../../platform/i18n/messages.ts';

interface ScopeWords {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
}

/** Texts of standard scopes that earlier versions of the service began with. */
const FORMER: Readonly<Record<string, string>> = { 'scope.profile.description': 'Your name, nickname, profile page and time zone' };

/** The text of a standard scope in the page's language, as long as it is one that the service began with; else as it is stored. */
function scopeText({ text }: Language, key: string, stored: string): string {
  return isMessageKey(key) && (en[key] === stored || FORMER[key] === stored) ? text(key) : stored;
}

/** A scope as the page shows it; a description that only repeats the title is left out. */
export function inLanguage<S extends ScopeWords>(language: Language, scope: S): S {
  const displayName = scopeText(language, `scope.${scope.name}.name`, scope.displayName);
  const description = scopeText(language, `scope.${scope.name}.description`, scope.description);
  return { ...scope, displayName, description: description === displayName ? '' : description };
}
