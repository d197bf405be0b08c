/**
 * `groups/{id}/apps` and `users/{id}/appLinks`, as in Okta's Groups and Users APIs: the applications that are assigned to a group, and
 * those that a user can open.
 */

import { z } from 'zod';
import { type Endpoint, listing } from '../../api/endpoint.ts';
import { idParams } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { listGroupApplications, listOpenApplications } from './application-assignments.service.ts';
import { app, presentApp } from './applications.api.ts';
import type { Application } from './applications.resource.ts';

const appLink = z.object({
  id: z.string(),
  label: z.string(),
  linkUrl: z.url().meta({ description: 'The initiate_login_uri, else the client_uri' }),
  logoUrl: z.url().nullable(),
  appName: z.literal('oidc_client'),
  appInstanceId: z.string(),
  hidden: z.literal(false),
});

export const assignedApps: readonly Endpoint[] = [
  listing({
    path: '/groups/:id/apps',
    access: 'service',
    summary: 'List the applications that are assigned to a group, oldest first',
    params: idParams,
    item: app,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listGroupApplications(services, params.id, query), (found) => presentApp(found, services.config.baseUrl, request)),
  }),
  listing({
    path: '/users/:id/appLinks',
    access: 'service',
    summary: 'List the active applications that a user can open and that have a start URI, oldest first',
    params: idParams,
    item: appLink,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listOpenApplications(services, params.id, query, request), presentLink),
  }),
];

function presentLink({ id, label, settings }: Application): z.input<typeof appLink> {
  const { initiate_login_uri, client_uri, logo_uri } = settings;
  const linkUrl = initiate_login_uri ?? client_uri;
  if (linkUrl === undefined) throw new Error(`application ${id} has no address to begin at`);
  return { id, label, linkUrl, logoUrl: logo_uri ?? null, appName: 'oidc_client', appInstanceId: id, hidden: false };
}
