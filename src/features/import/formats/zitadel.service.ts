/**
 * Zitadel data in the formats of its import (`POST /admin/v1/import`, `dataOrgs`) and export (`orgs`): organizations, projects with roles and
 * applications, identity providers, users and their grants. Project roles become roles of each application.
 */
import { z } from 'zod';
import { parse } from '../../../platform/validation/parsing.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { documentOf, UnreadableSource } from '../import-source.service.ts';
import { leftBehind } from './left-behind.service.ts';
import { applicationValue, LEFT_BY_ZITADEL, type ZitadelRole, zitadelApp, zitadelRole } from './zitadel-applications.service.ts';
import { type Grant, userValue, type ZitadelLink, zitadelUser } from './zitadel-users.service.ts';

const list = <S extends z.ZodType>(schema: S) => z.array(schema).default([]);
const text = z.string().default('');

const organization = z.looseObject({
  orgId: text,
  org: z.looseObject({ name: z.string() }),
  projectRoles: list(zitadelRole),
  oidcApps: list(z.unknown()),
  apiApps: list(z.unknown()),
  oidcIdps: list(z.looseObject({ idpId: text, idp: z.looseObject({ name: z.string() }) })),
  humanUsers: list(z.unknown()),
  userGrants: list(z.looseObject({ userId: z.string(), projectId: z.string(), roleKeys: list(z.string()) })),
  userLinks: list(z.looseObject({ userId: z.string(), idpId: text, idpName: text, providedUserId: z.string(), providedUserName: text })),
});
type ZitadelOrganization = z.output<typeof organization>;

const orgs = z.looseObject({ orgs: z.array(organization) });
const document = z.union([z.looseObject({ dataOrgs: orgs }).transform(({ dataOrgs }) => dataOrgs), orgs]);

/** @throws {UnreadableSource} the file is not such a document */
export async function* itemsOfZitadel(source: AsyncIterable<Buffer>): AsyncGenerator<ImportItem> {
  const found = document.safeParse(await documentOf(source)).data;
  if (found === undefined)
    throw new UnreadableSource('The file is not data of Zitadel: it must have dataOrgs.orgs or orgs, each with org.name.');
  refuseSameNames(found.orgs);
  yield* leftBehind(found.orgs, LEFT_BY_ZITADEL);
  for (const [at, one] of found.orgs.entries()) {
    const entry = `orgs[${at}]`;
    yield { kind: 'organization', place: { entry: `${entry} ${one.org.name}` }, value: { name: one.org.name, originId: one.orgId } };
  }
  // A project can be granted to users of other organizations.
  const applications = new Map<string, string[]>();
  for (const [at, one] of found.orgs.entries()) yield* applicationsOf(one, `orgs[${at}]`, applications);
  const providers = new Map(found.orgs.flatMap(({ oidcIdps }) => oidcIdps.map(({ idpId, idp }) => [idpId, idp.name] as const)));
  for (const [at, one] of found.orgs.entries()) yield* providersOf(one, `orgs[${at}]`);
  const grants = grantsOf(found.orgs, applications);
  for (const [at, one] of found.orgs.entries()) yield* usersOf(one, `orgs[${at}]`, grants, linksOf(one, providers));
}

/** Users refer to organizations by name, so members of two organizations with the same name would be mixed. @throws {UnreadableSource} naming both */
function refuseSameNames(orgs: readonly ZitadelOrganization[]): void {
  const places = new Map<string, number>();
  for (const [at, { org }] of orgs.entries()) {
    const name = org.name.trim();
    const first = places.get(name);
    if (first !== undefined)
      throw new UnreadableSource(`orgs[${first}] and orgs[${at}] both have the name “${name}”: rename one of the two in the file.`);
    places.set(name, at);
  }
}

/** @param applications receives the client IDs of each project */
function* applicationsOf(
  { projectRoles, oidcApps, apiApps }: ZitadelOrganization,
  entry: string,
  applications: Map<string, string[]>,
): Generator<ImportItem> {
  const roles = new Map<string, ZitadelRole[]>();
  for (const role of projectRoles) roles.set(role.projectId, [...(roles.get(role.projectId) ?? []), role]);
  for (const [kind, apps] of [
    ['oidcApps', oidcApps],
    ['apiApps', apiApps],
  ] as const) {
    for (const [at, value] of apps.entries()) {
      const place = { entry: `${entry}.${kind}[${at}]` };
      try {
        const app = parse(zitadelApp, value);
        const { projectId, name } = app.app;
        applications.set(projectId, [...(applications.get(projectId) ?? []), app.appId]);
        yield { kind: 'application', place: { entry: `${place.entry} ${name}` }, value: applicationValue(app, roles.get(projectId) ?? []) };
      } catch (error) {
        yield { kind: 'refused', place, reasons: reasonsOf(error) };
      }
    }
  }
  if (oidcApps.length + apiApps.length > 0)
    yield { kind: 'note', message: 'Client IDs are the IDs of the applications, and secrets are new: Zitadel exports neither.' };
}

const provider = z.looseObject({
  name: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  clientSecret: z.string().optional(),
  scopes: list(z.string()),
  autoRegister: z.boolean().default(true),
});

function* providersOf({ oidcIdps, org }: ZitadelOrganization, entry: string): Generator<ImportItem> {
  for (const [at, { idp }] of oidcIdps.entries()) {
    const place = { entry: `${entry}.oidcIdps[${at}] ${idp.name}` };
    try {
      const { name, issuer, clientId, clientSecret, scopes, autoRegister } = parse(provider, idp);
      yield {
        kind: 'provider',
        place,
        value: {
          ...{ name, type: 'OIDC', organization: org.name },
          protocol: {
            issuer: { url: issuer },
            ...(scopes.length > 0 && { scopes: [...new Set(['openid', ...scopes])] }),
            credentials: { client: { client_id: clientId, client_secret: clientSecret } },
          },
          policy: { provisioning: { action: autoRegister ? 'AUTO' : 'DISABLED' } },
        },
      };
    } catch (error) {
      yield { kind: 'refused', place, provider: idp.name, reasons: reasonsOf(error) };
    }
  }
  if (oidcIdps.length > 0)
    yield {
      kind: 'note',
      message: `Identity providers of ${org.name} are connected with it for no domain: nobody is offered them until you choose its domains.`,
    };
}

function grantsOf(
  orgs: readonly ZitadelOrganization[],
  applications: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, Grant[]> {
  const grants = new Map<string, Grant[]>();
  for (const { userId, projectId, roleKeys } of orgs.flatMap(({ userGrants }) => userGrants)) {
    const granted = (applications.get(projectId) ?? []).map((clientId) => ({ clientId, roles: roleKeys }));
    grants.set(userId, [...(grants.get(userId) ?? []), ...granted]);
  }
  return grants;
}

function linksOf({ userLinks }: ZitadelOrganization, providers: ReadonlyMap<string, string>): ReadonlyMap<string, ZitadelLink[]> {
  const links = new Map<string, ZitadelLink[]>();
  for (const { userId, idpId, idpName, providedUserId, providedUserName } of userLinks) {
    const link = {
      provider: providers.get(idpId) ?? idpName,
      subject: providedUserId,
      ...(providedUserName !== '' && { knownAs: providedUserName }),
    };
    links.set(userId, [...(links.get(userId) ?? []), link]);
  }
  return links;
}

function* usersOf(
  { humanUsers, org }: ZitadelOrganization,
  entry: string,
  grants: ReadonlyMap<string, readonly Grant[]>,
  links: ReadonlyMap<string, readonly ZitadelLink[]>,
): Generator<ImportItem> {
  for (const [at, value] of humanUsers.entries()) {
    const place = { entry: `${entry}.humanUsers[${at}]` };
    try {
      const { userId, user } = parse(zitadelUser, value);
      const named = { entry: `${place.entry} ${user.userName}` };
      const context = { organization: org.name, grants: grants.get(userId) ?? [], links: links.get(userId) ?? [] };
      yield { kind: 'user', place: named, value: userValue(user, context) };
    } catch (error) {
      yield { kind: 'refused', place, reasons: reasonsOf(error) };
    }
  }
}
