/** Shared by access policies and rules: priority and activation. */

import { z } from 'zod';
import type { Button } from '../../pages/console/detail-page.ts';
import { type ChoiceField, formPage, typedValues } from '../../pages/console/form.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Status } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { policyFields } from '../authorization-servers/authorization-server-fields.service.ts';
import type { PolicyStatus } from './policies.resource.ts';

interface Placed {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
}

export const policyStatus = (status: PolicyStatus): Status =>
  status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Inactive', tone: 'warning' };

const PLACE = 'place';

/** Buttons that move an object by one position. @param address of its page, with `move` below @param count number of objects */
export function movesOf(address: string, priority: number, count: number): readonly Button[] {
  const to = (place: number, label: string): Button => ({
    label,
    icon: 'move',
    action: `${address}/move`,
    name: PLACE,
    value: String(place),
  });
  return [...(priority > 1 ? [to(priority - 1, 'Move up')] : []), ...(priority < count ? [to(priority + 1, 'Move down')] : [])];
}

/** @param all in their order */
export function placeField(all: readonly Placed[], { id, priority }: Placed): ChoiceField {
  const others = all.filter((other) => other.id !== id);
  const options = [phrase('First'), ...others.map(({ name }) => phrase('After “{name}”', { name }))].map((label, at) => ({
    value: String(at + 1),
    label,
  }));
  return { name: PLACE, label: 'Place', value: String(priority), options, alias: 'priority' };
}

/** @returns the priority @throws {ApiError} validation */
export const priorityOf = (form: URLSearchParams): number =>
  parse(z.object({ [PLACE]: policyFields.priority }), typedValues([{ name: PLACE, label: '', kind: 'number' }], form))[PLACE] ?? 1;

interface Found {
  readonly name: string;
  readonly crumbs: readonly Crumb[];
  /** Address of the list. */
  readonly address: string;
}

const BUTTONS = {
  Activate: { 'access policy': 'Activate access policy', rule: 'Activate rule' },
  Deactivate: { 'access policy': 'Deactivate access policy', rule: 'Deactivate rule' },
} as const;

interface Steps {
  /** Path of its page. */
  readonly path: string;
  readonly what: 'access policy' | 'rule';
  /** Effect of deactivating it. */
  readonly passedOver: string;
  readonly notices: readonly [activated: PageNotice, deactivated: PageNotice];
  find(visit: ConsoleRequest): Promise<Found>;
  change(visit: ConsoleRequest, status: PolicyStatus): Promise<void>;
}

/** The pages that activate and deactivate it. */
export function statusSteps({
  path,
  what,
  passedOver,
  notices,
  find,
  change,
}: Steps): readonly [activate: ConsolePage, deactivate: ConsolePage] {
  const page = (step: 'Activate' | 'Deactivate', status: PolicyStatus, facts: readonly string[], notice: PageNotice): ConsolePage => ({
    path: `${path}/${step.toLowerCase()}`,
    access: 'service',
    verb: 'write',
    async show(visit, typed) {
      const { name, crumbs, address } = await find(visit);
      return formPage(
        { title: phrase(`${step} the ${what} “{name}”?`, { name }), crumbs, facts, submit: BUTTONS[step][what], cancel: address },
        typed,
      );
    },
    async receive(visit) {
      const { address } = await find(visit);
      await change(visit, status);
      const own = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(visit.params[name] ?? ''));
      return { goTo: address, notice, undo: { href: `/admin${own}/${step === 'Activate' ? 'deactivate' : 'activate'}` } };
    },
  });
  return [
    page('Activate', 'ACTIVE', ['It is evaluated again, at its position.'], notices[0]),
    page('Deactivate', 'INACTIVE', ['It is stored but skipped.', passedOver, 'It can be activated again.'], notices[1]),
  ];
}
