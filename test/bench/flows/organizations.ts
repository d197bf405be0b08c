/** The organization endpoints, with an API token. */
import { flow } from '../flow.ts';
import { send } from '../http.ts';
import type { Target } from '../target.ts';

function directoryOf({ directory }: Target): NonNullable<Target['directory']> {
  if (directory === undefined) throw new Error('it has no organizations');
  return directory;
}

const organizations = (name: string, path: (orgId: string) => string, field: string) =>
  flow({
    name,
    own: true,
    prepare(target) {
      const { api, apiToken, orgId } = directoryOf(target);
      return { url: new URL(api + path(orgId)), authorization: `SSWS ${apiToken}` };
    },
    async request(context) {
      if ((await send(context))[field] === undefined) throw new Error(`there is no ${field}`);
    },
  });

export const organizationList = organizations('organization list', () => '/account/org', 'organizations');
export const organizationDetail = organizations('organization detail', (orgId) => `/account/org/${orgId}`, 'memberCount');
