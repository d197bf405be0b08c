/** Do the domains and identity providers of organizations lead their users where they should? Rows are read, and DNS is asked. */

import { challengeName } from '../../features/organization-domains/organization-domains.resource.ts';
import { listProvedDomains } from '../../features/organization-domains/organization-domains.store.ts';
import { listWithoutEffect } from '../../features/organization-policy/organization-policy.store.ts';
import { listOpenDomains, listUnusableProviders } from '../../features/organization-providers/organization-providers.store.ts';
import { listGivenUp, listUnfinished } from '../../features/organization-setup/organization-setup.store.ts';
import { readSettings } from '../../features/settings/settings.service.ts';
import { present } from '../../platform/clock/clock.ts';
import { shownDomain } from '../../platform/dns/domain-name.ts';
import { txtRecords } from '../../platform/dns/txt-records.ts';
import { must, type Rule, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** So many are looked at, those first that another organization claims. */
const MOST = 50;

const listed = (names: readonly string[]): string => names.slice(0, 10).join(', ') + (names.length > 10 ? ', and more' : '');

export const organizations: readonly Rule<CheckContext>[] = section('Organizations', [
  {
    id: 'organizations.providers',
    sentence: 'Every identity provider that an organization requires is active and links existing users.',
    async run(ground) {
      ownConfig(ground);
      const unusable = await listUnusableProviders((await ground.database()).knex, MOST);
      const told = unusable.map(({ orgName, name, status }) =>
        status === 'ACTIVE' ? `${name} of ${orgName} links no existing users` : `${name} of ${orgName} is inactive, so passwords count`,
      );
      must(told.length === 0, `${listed(told)}. Change the provider under Security → Identity providers, or make it offered only`);
    },
  },
  {
    id: 'organizations.open-domains',
    sentence: 'Where an organization requires an identity provider, it does for each of its verified domains.',
    async run(ground) {
      ownConfig(ground);
      const open = (await listOpenDomains((await ground.database()).knex, MOST)).map(
        ({ domain, orgName }) => `${shownDomain(domain)} of ${orgName}`,
      );
      must(open.length === 0, `passwords count for ${listed(open)}. Add each to an identity provider of the organization, or remove it`);
    },
  },
  {
    id: 'organizations.policies',
    sentence: 'No organization has longer sessions than the service.',
    async run(ground) {
      ownConfig(ground);
      const { knex } = await ground.database();
      const signIn = await readSettings({ database: await ground.database() }, 'sign-in');
      const longer = await listWithoutEffect(knex, signIn, MOST);
      must(
        longer.length === 0,
        `the policy of ${listed(longer)} has no effect: the sessions of the service end before. Make it shorter, or remove it`,
      );
    },
  },
  {
    id: 'organizations.setups',
    sentence: 'No set-up link is open that somebody began to use a day ago or more.',
    async run(ground) {
      ownConfig(ground);
      const { knex } = await ground.database();
      const open = await listUnfinished(knex, present(), MOST);
      must(open.length === 0, `the link for ${listed(open)} still works for the browser that began. Ask the customer, or revoke it`);
      const left = await listGivenUp(knex, present(), MOST);
      return left.length === 0 ? undefined : `identity providers for no domain, left by a set-up: ${listed(left)}`;
    },
  },
  {
    id: 'organizations.domains',
    sentence: 'No verified domain carries the TXT record of another organization that claims it.',
    async run(ground) {
      const config = ownConfig(ground);
      const proved = await listProvedDomains((await ground.database()).knex, MOST);
      const moved: string[] = [];
      const unproved: string[] = [];
      for (const { domain, challenge, orgName, rivals } of proved) {
        const records = await txtRecords(config, challengeName(domain));
        if (records === 'unreachable') continue;
        if (rivals.some((rival) => records.includes(rival))) moved.push(`${shownDomain(domain)} of ${orgName}`);
        else if (!records.includes(challenge)) unproved.push(shownDomain(domain));
      }
      must(moved.length === 0, `${listed(moved)} may have a new owner. Ask them, then remove the domain so that it can be verified again`);
      return unproved.length === 0 ? undefined : `no longer in DNS, which is allowed: ${listed(unproved)}`;
    },
  },
]);
