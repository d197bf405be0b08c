/** The language that a user has chosen for himself, in a browser that he signs in with and that has kept no choice yet. */
import type Koa from 'koa';
import { findUserById } from '../store/users.ts';
import type { House } from './house.ts';
import { hasKeptLanguage, keepLanguage, languageOfProfile } from './page-language.ts';

/** From now on the pages speak it here. */
export async function adoptLanguage({ services }: House, ctx: Koa.Context, userId: string): Promise<void> {
  if (hasKeptLanguage(ctx)) return;
  const user = await findUserById(services.database.knex, userId);
  const language = user && languageOfProfile(user.profile);
  if (language !== undefined) keepLanguage(ctx, language);
}
