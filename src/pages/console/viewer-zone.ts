import { isTimeZone } from '../../platform/clock/time-zones.ts';
import type { ConsoleRequest } from './page.ts';

/** The cookie in which the browser tells its time zone (views/public/local-time.js). */
const ZONE = /(?:^|; )gatehouse-zone=([\w/+-]+)/;

/** Time zone of the viewer: of the browser, or without script of the profile. */
export function zoneOfViewer({ req, person }: Pick<ConsoleRequest, 'req' | 'person'>): string {
  const zone = ZONE.exec(req.headers.cookie ?? '')?.[1] ?? '';
  return isTimeZone(zone) ? zone : person.zone;
}
