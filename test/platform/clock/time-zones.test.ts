import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOfDay, zoneOfProfile } from '../../../src/platform/clock/time-zones.ts';

test('a day begins at midnight of its zone, also where the clocks change on it', () => {
  const begins: [moment: string, zone: string, start: string][] = [
    ['2026-11-28T00:30:00.123Z', 'UTC', '2026-11-28T00:00:00.000Z'],
    ['2026-11-27T23:30:00.000Z', 'Europe/Berlin', '2026-11-27T23:00:00.000Z'],
    ['2026-11-28T02:00:00.000Z', 'America/Los_Angeles', '2026-11-27T08:00:00.000Z'],
    ['2026-11-28T00:00:00.000Z', 'Asia/Kathmandu', '2026-11-27T18:15:00.000Z'],
    ['2026-03-29T10:00:00.000Z', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-10-25T10:00:00.000Z', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    // There is no midnight: the day begins at one o'clock.
    ['2026-03-29T10:00:00.000Z', 'Asia/Beirut', '2026-03-28T22:00:00.000Z'],
  ];
  for (const [moment, zone, start] of begins)
    assert.equal(new Date(startOfDay(Date.parse(moment), zone)).toISOString(), start, `${moment} ${zone}`);
});

test('the zone of a profile is the one that the user chose, if it exists', () => {
  assert.equal(zoneOfProfile({ zoneinfo: 'Europe/Vienna', timezone: 'Asia/Tokyo' }), 'Europe/Vienna');
  assert.equal(zoneOfProfile({ timezone: 'Asia/Tokyo' }), 'Asia/Tokyo');
  for (const profile of [{}, { timezone: 'Vienna' }, { zoneinfo: 7 }, { zoneinfo: '' }]) assert.equal(zoneOfProfile(profile), undefined);
});
