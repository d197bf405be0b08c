/** The language that a user has chosen for themselves, in a browser that they sign in with and that has kept no choice yet. */
import type Koa from 'koa';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import { hasKeptLanguage, keepLanguage, languageOfProfile } from '../../platform/i18n/page-language.ts';
import type { User } from './users.resource.ts';
import { findUser } from './users.service.ts';

/** From now on the pages speak it here. @param profile theirs, where it has just been read */
export async function adoptLanguage({ services }: HostedDeps, ctx: Koa.Context, userId: string, profile?: User['profile']): Promise<void> {
  if (hasKeptLanguage(ctx)) return;
  const known = profile ?? (await findUser(services.database, userId))?.profile;
  const language = known && languageOfProfile(known);
  if (language !== undefined) keepLanguage(ctx, language);
}
