/**
 * The jobs of a help desk in Chromium, begun at the dashboard: with the clicks that they take at most, beside those at Okta as
 * they were counted in November 2026. A click is anything pressed, a field anything typed; a name is chosen from what the search proposes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { SUPER } from '../pages/console/administrators.ts';
import { inBrowser } from '../support/browser.ts';
import { enrolledUser } from '../support/factors.ts';
import { type Service, startService } from '../support/service.ts';
import { fillHelpDesk } from './help-desk.ts';

/** Counts what an administrator does. */
class Operator {
  clicks = 0;
  fields = 0;
  loads = 0;
  constructor(readonly page: Page) {
    page.on('domcontentloaded', () => {
      this.loads += 1;
    });
  }

  async click(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.click();
  }

  async type(what: Locator, text: string): Promise<void> {
    this.fields += 1;
    await what.fill(text);
  }

  /** Types into the search of the header and takes what it proposes. */
  async find(text: string): Promise<void> {
    this.fields += 1;
    await this.page.locator('#find').pressSequentially(text, { delay: 5 });
    await this.click(this.page.locator('#found a', { hasText: text }).first());
  }

  link = (name: string): Locator => this.page.locator('main').getByRole('link', { name, exact: true }).first();
  button = (name: string | RegExp): Locator => this.page.locator('main').getByRole('button', { name }).first();

  async action(name: string): Promise<void> {
    await this.click(this.page.locator('main summary', { hasText: 'Actions' }).first());
    await this.click(this.link(name));
  }
}

async function signedIn(browser: Browser, service: Service): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.baseUrl}/admin`);
  await page.fill('[name=username]', SUPER.login);
  await page.fill('[name=password]', SUPER.password);
  await page.click('#sign-in-form button[type=submit]');
  await page.waitForURL(/\/admin/);
  return page;
}

interface Job {
  readonly name: string;
  /** Clicks at Okta; undefined: they were not counted there. */
  readonly okta: number | undefined;
  /** Clicks here. */
  readonly most: number;
  readonly run: (operator: Operator) => Promise<void>;
}

test(
  'the jobs of a help desk take few clicks',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await fillHelpDesk(service);
    const user = await enrolledUser(service);
    const page = await signedIn(browser, service);
    const status = async (id: string) => (await service.api('GET', `/users/${id}`)).body.status;
    const rolesOf = async (id: string): Promise<[string, string][]> =>
      (await service.api('GET', `/users/${id}/roles`)).body.map(({ type, orgId }: { type: string; orgId: string }) => [type, orgId]);
    const jobs: Job[] = [
      {
        name: 'reset the second factors of a user',
        okta: 4,
        most: 4,
        async run(operator) {
          await operator.find(user.login);
          await operator.action('Reset second factors');
          await operator.click(operator.button('Reset'));
          await page.waitForURL(/\/users\/[^/]+(\/factors)?(\?.*)?$/);
          assert.deepEqual((await service.api('GET', `/users/${user.id}/factors`)).body, []);
        },
      },
      {
        name: 'suspend a user',
        okta: 4,
        most: 4,
        async run(operator) {
          await operator.find('user777@example.com');
          await operator.action('Suspend');
          await operator.click(operator.button('Suspend'));
          await page.waitForURL(/\/users\/usr_777(\?.*)?$/);
          assert.equal(await status('usr_777'), 'SUSPENDED');
        },
      },
      {
        name: 'add 50 users to a group',
        okta: undefined,
        most: 6,
        async run(operator) {
          await operator.find('Team 199');
          await operator.click(operator.link('Members'));
          await operator.click(operator.link('Add members'));
          await operator.type(page.locator('main #q'), 'newcomer');
          await operator.click(page.locator('main #search-button'));
          await operator.click(page.locator('main #choose-all'));
          await operator.click(page.locator('main #choose-button'));
          await page.waitForURL(/\/members(\?.*)?$/);
          const group = (await service.api('GET', '/groups?q=Team%20199')).body[0];
          assert.equal((await service.api('GET', `/groups/${group.id}/users?limit=200`)).body.length, 50);
        },
      },
      {
        name: 'give an organization its administrator',
        okta: undefined,
        most: 3,
        async run(operator) {
          await operator.find('Customer 777');
          await operator.click(operator.link('Administrators'));
          await operator.type(page.locator('main #user'), 'user2222@example.com');
          await operator.click(operator.button('Add administrator'));
          await page.getByText('user2222@example.com').first().waitFor();
          assert.deepEqual(await rolesOf('usr_2222'), [['ORG_ADMIN', 'org_777']]);
        },
      },
      {
        name: 'make a user the administrator of an organization',
        okta: undefined,
        most: 4,
        async run(operator) {
          await operator.find('user2223@example.com');
          await operator.action('Give role');
          await operator.type(page.locator('main #orgId'), 'Customer 778');
          await operator.click(operator.button('Give role'));
          await page.waitForURL(/\/users\/usr_2223\/roles(\?.*)?$/);
          assert.deepEqual(await rolesOf('usr_2223'), [['ORG_ADMIN', 'org_778']]);
        },
      },
      {
        name: 'create an API token',
        okta: 3,
        most: 3,
        async run(operator) {
          await operator.click(operator.link('Create an API token'));
          await operator.type(page.locator('main #name'), 'Nightly import');
          await operator.click(operator.button('Create token'));
          await page.locator('#token-value').waitFor();
        },
      },
      {
        name: 'rotate a client secret without an outage',
        okta: 6,
        most: 6,
        async run(operator) {
          await operator.find('Application 311');
          await operator.click(operator.link('Credentials'));
          await operator.click(operator.button('Add a secret'));
          await operator.click(page.getByText('Done, I have copied it'));
          await operator.click(page.locator('main table a', { hasText: 'Deactivate' }).first());
          await operator.click(operator.button('Deactivate'));
          await page.waitForURL(/\/credentials(\?.*)?$/);
          const secrets = (await service.api('GET', `${new URL(page.url()).pathname.replace('/admin/applications', '/apps')}/secrets`))
            .body;
          assert.deepEqual(
            secrets.map(({ status }: { status: string }) => status),
            ['INACTIVE', 'ACTIVE'],
          );
        },
      },
      {
        name: 'create a scope that asks for consent',
        okta: 9,
        most: 9,
        async run(operator) {
          await operator.click(page.getByRole('link', { name: 'Authorization servers', exact: true }).first());
          await operator.click(operator.link('default'));
          await operator.click(operator.link('Scopes'));
          await operator.click(operator.link('Create scope'));
          await operator.type(page.locator('main #name'), 'orders.read');
          await operator.click(page.locator('main #consent-2'));
          await operator.click(operator.button('Create scope'));
          await page.getByText('orders.read').first().waitFor();
        },
      },
    ];
    for (const { name, okta = '–', most, run } of jobs) {
      await page.goto(`${service.baseUrl}/admin`);
      const operator = new Operator(page);
      await run(operator);
      t.diagnostic(`${name}: ${operator.clicks} clicks, ${operator.fields} fields, ${operator.loads} loads; Okta ${okta} clicks`);
      assert.ok(operator.clicks <= most, `${name}: ${operator.clicks} clicks`);
    }
  }),
);
