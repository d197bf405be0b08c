/** `/account`: the applications that the user can open. Each tile starts a sign-in (OpenID Connect Core 1.0 section 4) or links to the home page. */

import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, ownPage } from '../../pages/account/page.ts';
import { logoOf, webAddress } from '../../pages/hosted/page-models.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { listAuthorizationServers } from '../authorization-servers/authorization-servers.service.ts';
import { BUILT_IN, DEFAULT, issuerOf } from '../authorization-servers/server-id.policy.ts';
import { listApplicationsForUser } from './application-lists.service.ts';
import type { Application } from './applications.resource.ts';

/** Upper limit; nobody reads a longer list. */
const MOST = 200;

/** GET /account */
export const applicationsPage = ownPage('', async (deps, ctx, visit) => {
  const { items } = await listApplicationsForUser(deps.services.database, visit.user.id, { limit: MOST });
  const issuer = await issuerForUsers(deps);
  const tiles = items.flatMap((application) => {
    const href = startAt(application, issuer);
    const { logo, images } = logoOf(applicationFacts(application));
    return href === undefined ? [] : [{ label: application.label, initial: initialOf(application.label), href, logo, images }];
  });
  const { compare } = new Intl.Collator(pageLanguage(ctx).lang);
  tiles.sort((one, other) => compare(one.label, other.label));
  const images = [...new Set(tiles.flatMap((tile) => tile.images))];
  await draw(deps, ctx, visit, 'account/applications', { page: '', images }, { tiles });
});

const signs = new Intl.Segmenter();

/** @returns the first grapheme cluster, which may be several characters (Unicode Standard Annex 29) */
const initialOf = (label: string): string => [...signs.segment(label.trim())][0]?.segment ?? '';

export const applicationFacts = ({ id, label, settings: { logo_uri: logoUri } }: Pick<Application, 'id' | 'label' | 'settings'>) => ({
  ...{ id, label },
  ...(logoUri !== undefined && { logoUri }),
});

/** @returns target of the tile; the application gets the issuer, as the specification requires */
function startAt({ settings }: Application, issuer: string): string | undefined {
  const initiate = webAddress(settings.initiate_login_uri);
  if (initiate === undefined) return webAddress(settings.client_uri);
  const url = new URL(initiate);
  url.searchParams.set('iss', issuer);
  return url.href;
}

/** The default server of applications. */
async function issuerForUsers({ services }: AccountDeps): Promise<string> {
  const servers = await listAuthorizationServers(services);
  const first = servers.some(({ id, status }) => id === DEFAULT && status === 'ACTIVE') ? DEFAULT : BUILT_IN;
  return issuerOf(services.config.baseUrl, first);
}
