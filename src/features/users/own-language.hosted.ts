/** Applies the language in a user's profile to a browser without a stored choice. */
import type Koa from 'koa';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import { hasKeptLanguage, keepLanguage, languageOfProfile } from '../../platform/i18n/page-language.ts';
import type { User } from './users.resource.ts';
import { findUser } from './users.service.ts';

/** Stores the language in the browser. @param profile of the user, if it was just read */
export async function adoptLanguage({ services }: HostedDeps, ctx: Koa.Context, userId: string, profile?: User['profile']): Promise<void> {
  if (hasKeptLanguage(ctx)) return;
  const known = profile ?? (await findUser(services.database, userId))?.profile;
  const language = known && languageOfProfile(known);
  if (language !== undefined) keepLanguage(ctx, language);
}
