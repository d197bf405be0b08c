/** Cached settings that nearly every page and sign-in needs: local changes apply immediately, others on notification. */

import { CachedValue } from '../../platform/cache/cache.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { ChangedTexts } from '../../platform/i18n/messages.ts';
import { findCommittedZones } from '../network-zones/network-zones.store.ts';
import { findCommittedTexts } from '../texts/texts.store.ts';
import { DEFAULT_SETTINGS, readCommittedSettings, type Settings, type SettingsName } from './settings.service.ts';

type Caches = { readonly [N in SettingsName]: CachedValue<Settings[N]> };
interface CachesOfPool {
  readonly settings: Caches;
  readonly texts: CachedValue<ChangedTexts>;
  readonly zones: CachedValue<Zones>;
}
type Zones = Awaited<ReturnType<typeof findCommittedZones>>;
type Parts = Pick<Services, 'database' | 'notifications'>;

/** By pool: services within a transaction have a different database object, but the process's pool. */
const caches = new WeakMap<Services['database']['pool'], CachesOfPool>();

/**
 * Settings cached in this process.
 * @throws if they must be read and the database is down; the error page still renders with the last known branding
 */
export const currentSettings = <N extends SettingsName>(services: Parts, name: N): Promise<Settings[N]> =>
  cachesOf(services).settings[name].current();

/** The texts of pages and e-mails that the operator has changed; if they cannot be read, the last known ones. */
export const currentTexts = (services: Parts): Promise<ChangedTexts> => cachesOf(services).texts.current();

/** The network zones that rules of the sign-in policy refer to. */
export const currentZones = (services: Parts): Promise<Zones> => cachesOf(services).zones.current();

function cachesOf({ database, notifications }: Parts): CachesOfPool {
  const known = caches.get(database.pool);
  if (known !== undefined) return known;
  const cache = <N extends SettingsName>(name: N, fallback?: Settings[N]) =>
    new CachedValue<Settings[N]>(() => readCommittedSettings({ database }, name), fallback);
  const made: Caches = {
    'sign-in': cache('sign-in'),
    password: cache('password'),
    branding: cache('branding', DEFAULT_SETTINGS.branding),
    audit: cache('audit'),
    mail: cache('mail'),
    registration: cache('registration'),
    telephony: cache('telephony'),
    bots: cache('bots'),
  };
  const texts = new CachedValue<ChangedTexts>(() => findCommittedTexts(database.pool), {});
  const zones = new CachedValue<Zones>(() => findCommittedZones(database.pool));
  notifications.subscribe((change) => {
    for (const [name, one] of Object.entries({ ...made, texts, zones })) {
      if (change === 'everything' || (change.kind === 'settings' && change.id === name)) one.forget();
    }
  });
  const all = { settings: made, texts, zones };
  caches.set(database.pool, all);
  return all;
}
