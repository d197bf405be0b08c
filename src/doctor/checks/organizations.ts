/** Checks domains and identity providers of organizations with the database and DNS. Read-only. */

import { challengeName } from '../../features/organization-domains/organization-domains.resource.ts';
import { listAllVerifiedDomains } from '../../features/organization-domains/organization-domains.store.ts';
import { listWithoutEffect } from '../../features/organization-policy/organization-policy.store.ts';
import { listOpenDomains, listUnusableProviders } from '../../features/organization-providers/organization-providers.store.ts';
import { listAbandonedSetups, listUnfinishedSetups } from '../../features/organization-setup/organization-setup.store.ts';
import { readSettings } from '../../features/settings/settings.service.ts';
import { present } from '../../platform/clock/clock.ts';
import { txtRecords } from '../../platform/dns/dns.ts';
import { shownDomain } from '../../platform/dns/domain-name.ts';
import { must, type Rule, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Number of domains to check; those claimed by another organization first. */
const MOST = 50;

const listed = (names: readonly string[]): string => names.slice(0, 10).join(', ') + (names.length > 10 ? ', and more' : '');

export const organizations: readonly Rule<CheckContext>[] = section('Organizations', [
  {
    id: 'organizations.providers',
    sentence: 'Every identity provider that an organization requires is active and links existing users.',
    async run(context) {
      ownConfig(context);
      const unusable = await listUnusableProviders((await context.database()).knex, MOST);
      const descriptions = unusable.map(({ orgName, name, status }) =>
        status === 'ACTIVE'
          ? `${name} of ${orgName} does not link existing users`
          : `${name} of ${orgName} is inactive, so users sign in with passwords`,
      );
      must(
        descriptions.length === 0,
        `${listed(descriptions)}. Change the provider under Security → Identity providers, or do not require it`,
      );
    },
  },
  {
    id: 'organizations.open-domains',
    sentence: 'If an organization requires an identity provider, it does so for each of its verified domains.',
    async run(context) {
      ownConfig(context);
      const open = (await listOpenDomains((await context.database()).knex, MOST)).map(
        ({ domain, orgName }) => `${shownDomain(domain)} of ${orgName}`,
      );
      must(
        open.length === 0,
        `users of these domains can sign in with passwords: ${listed(open)}. Add each domain to an identity provider of the organization, or remove it`,
      );
    },
  },
  {
    id: 'organizations.policies',
    sentence: 'No organization allows longer sessions than the service.',
    async run(context) {
      ownConfig(context);
      const { knex } = await context.database();
      const signIn = await readSettings({ database: await context.database() }, 'sign-in');
      const longer = await listWithoutEffect(knex, signIn, MOST);
      must(
        longer.length === 0,
        `the policy of ${listed(longer)} has no effect: sessions end earlier by settings/sign-in. Shorten it, or remove it`,
      );
    },
  },
  {
    id: 'organizations.setups',
    sentence: 'No set-up link that was opened is left unfinished for more than a day.',
    async run(context) {
      ownConfig(context);
      const { knex } = await context.database();
      const open = await listUnfinishedSetups(knex, present(), MOST);
      must(
        open.length === 0,
        `the set-up of ${listed(open)} is unfinished, and its link still works. Ask the customer to finish, or revoke the link`,
      );
      const left = await listAbandonedSetups(knex, present(), MOST);
      return left.length === 0 ? undefined : `unfinished set-ups left identity providers without a domain: ${listed(left)}`;
    },
  },
  {
    id: 'organizations.domains',
    sentence: 'No verified domain has the TXT record of another organization that claims it.',
    async run(context) {
      const config = ownConfig(context);
      const proved = await listAllVerifiedDomains((await context.database()).knex, MOST);
      const moved: string[] = [];
      const unproved: string[] = [];
      for (const { domain, challenge, orgName, rivals } of proved) {
        const records = await txtRecords(config, challengeName(domain));
        if (records === 'unreachable') continue;
        if (rivals.some((rival) => records.includes(rival))) moved.push(`${shownDomain(domain)} of ${orgName}`);
        else if (!records.includes(challenge)) unproved.push(shownDomain(domain));
      }
      must(
        moved.length === 0,
        `${listed(moved)} may have a new owner. Ask them, then remove the domain so that the new owner can verify it`,
      );
      return unproved.length === 0 ? undefined : `TXT record removed after verification, which is allowed: ${listed(unproved)}`;
    },
  },
]);
