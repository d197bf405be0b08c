/**
 * Network zones: named lists of networks. Rules of the sign-in policy refer to them by name, so a used zone cannot be deleted or renamed: a rule must
 * not change its meaning. The settings are locked first, as for changes of rules.
 */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { lockSettings } from '../settings/settings.store.ts';
import { type SignInRule, zonesOf } from '../sign-in-rules/sign-in-rules.policy.ts';
import { MOST_ZONES, type NetworkZone } from './network-zones.resource.ts';
import { countZones, deleteZoneRow, findZone, insertZone, listZoneNames, selectZones, updateZoneRow } from './network-zones.store.ts';

export type ZoneFields = Pick<NetworkZone, 'name' | 'networks'>;

/** ID of the notification to all processes that cache the zones. */
const ZONES = 'zones';

export const listZones = ({ database }: Services, window: Window): Promise<Page<NetworkZone>> => selectZones(database.knex, window);

/** Names in alphabetical order. */
export const zoneNames = ({ database }: Services): Promise<readonly string[]> => listZoneNames(database.knex);

/** @throws {ApiError} not found */
export async function getZone({ database }: Services, id: string): Promise<NetworkZone> {
  return requireFound(await findZone(database.knex, id), id, 'Zone');
}

/** @throws {ApiError} conflict: the name is taken; wrong state: there are too many */
export function createZone(services: Services, fields: ZoneFields, request: RequestContext): Promise<NetworkZone> {
  return changing(services, async (trx) => {
    if ((await countZones(trx)) >= MOST_ZONES) throw wrongState(`the limit of ${MOST_ZONES} zones is reached. Delete one first`);
    const now = present();
    const zone: NetworkZone = { id: newId('nzo'), ...fields, created: now, lastUpdated: now };
    if (!(await insertZone(trx, zone))) throw nameTaken();
    await recordEvent(trx, {
      eventType: 'zone.create',
      displayMessage: 'Create network zone',
      request,
      targets: [target(zone)],
      after: described(zone),
    });
    return zone;
  });
}

/** @throws {ApiError} not found; conflict of the name; wrong state: a rule refers to its name, which would change */
export function updateZone(services: Services, id: string, fields: ZoneFields, request: RequestContext): Promise<NetworkZone> {
  return changing(services, async (trx, rules) => {
    const before = requireFound(await findZone(trx, id), id, 'Zone');
    if (fields.name !== before.name) refuseNamed(rules, before);
    const after = { ...before, ...fields, lastUpdated: present() };
    if (!(await updateZoneRow(trx, id, after))) throw nameTaken();
    await recordEvent(trx, {
      eventType: 'zone.update',
      displayMessage: 'Update network zone',
      request,
      targets: [target(after)],
      before: described(before),
      after: described(after),
    });
    return after;
  });
}

/** @throws {ApiError} not found; wrong state: a rule uses it */
export async function deleteZone(services: Services, id: string, request: RequestContext): Promise<void> {
  await changing(services, async (trx, rules) => {
    const before = requireFound(await findZone(trx, id), id, 'Zone');
    refuseNamed(rules, before);
    await deleteZoneRow(trx, id);
    await recordEvent(trx, {
      eventType: 'zone.delete',
      displayMessage: 'Delete network zone',
      request,
      targets: [target(before)],
      before: described(before),
    });
  });
}

/** One change at a time; the rules cannot change during it. */
async function changing<T>(
  { database, notifications }: Services,
  change: (trx: Executor, rules: readonly SignInRule[]) => Promise<T>,
): Promise<T> {
  const done = await database.transaction(async (trx) => {
    const { rules = [] } = (await lockSettings(trx, 'sign-in', present())) as { readonly rules?: readonly SignInRule[] };
    const result = await change(trx, rules);
    await notifications.publish(trx, { kind: 'settings', id: ZONES });
    return result;
  });
  notifications.announce({ kind: 'settings', id: ZONES });
  return done;
}

function refuseNamed(rules: readonly SignInRule[], { name }: NetworkZone): void {
  const rule = rules.find((one) => zonesOf(one).includes(name));
  if (rule !== undefined) throw wrongState(`the rule ${rule.name} of the sign-in policy uses this zone. Change the rule first`);
}

const nameTaken = () => conflict({ field: 'name', message: 'another zone has this name. Choose another name' });
const target = ({ id, name }: NetworkZone) => ({ id, type: 'Zone', displayName: name });
const described = ({ name, networks }: NetworkZone) => ({ name, networks });
