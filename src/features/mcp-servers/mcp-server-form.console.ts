/** API → Authorization servers → Protect an MCP server: one form that configures an authorization server for it. */
import { z } from 'zod';
import { groupsIn } from '../../pages/console/candidates.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { pickManyField } from '../../pages/console/picker.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { serverFields } from '../authorization-servers/authorization-server-fields.service.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { listAuthorizationServers } from '../authorization-servers/authorization-servers.service.ts';
import { idsNamed } from '../authorization-servers/references.console.ts';
import { BUILT_IN } from '../authorization-servers/server-id.policy.ts';
import { addressOfServer, SERVERS, SERVERS_HOME } from '../authorization-servers/server-page.console.ts';
import { scopeNameProblem } from '../claims/claim-settings.policy.ts';
import { SCOPE_SETTINGS } from '../scopes/scopes.resource.ts';
import { protectMcpServer } from './mcp-servers.service.ts';
import { mcpServerUrl } from './protected-resource.policy.ts';

const TITLE = 'Protect an MCP server';
/** URL of the form. */
export const PROTECT_MCP_SERVER = '/admin/api/mcp';

const fitsMcp = ({ id, profile }: AuthorizationServer): boolean => id !== BUILT_IN && profile !== 'fapi2';

async function fieldsFor(visit: ConsoleRequest, typed: Typed): Promise<readonly Field[]> {
  const servers = (await listAuthorizationServers(visit.services)).filter(fitsMcp);
  const chosen = servers.find(({ id }) => id === visit.query.get('server'));
  const [isNew, isExisting] = ['new', 'existing'].map((value) => ({ field: 'server', value }));
  return [
    {
      name: 'url',
      label: 'URL of the MCP server',
      kind: 'url',
      required: true,
      hint: 'Exactly as clients connect to it, e.g. https://mcp.example.com/mcp.',
    },
    { name: 'name', label: 'Name', required: true, hint: 'The name that clients can show, e.g. “Notes”.' },
    {
      name: 'scopes',
      label: 'What agents may do',
      kind: 'lines',
      rows: 4,
      required: true,
      value: 'mcp:tools Use the tools of this server',
      hint: 'One per line: a scope, and in plain words what it allows. Users read it when they are asked. E.g. “notes:read Read your notes”.',
    },
    {
      name: 'server',
      label: 'Authorization server',
      group: 'Authorization server',
      kind: 'radios',
      value: chosen === undefined ? 'new' : 'existing',
      options: [
        { value: 'new', label: 'A new server', hint: 'Its tokens are for this MCP server alone.' },
        ...(servers.length === 0
          ? []
          : [
              {
                value: 'existing',
                label: 'An existing server',
                hint: 'The URL becomes one of its audiences. It keeps its settings and access policies; a rule is added if they let no unknown client in.',
              },
            ]),
      ],
    },
    {
      name: 'id',
      label: 'ID',
      group: 'Authorization server',
      hint: 'The last part of its issuer: a to z, 0 to 9, hyphen and underscore, e.g. “orders”. It cannot be changed later. Empty: the service chooses one.',
      ...(isNew !== undefined && { when: isNew }),
    },
    {
      name: 'existing',
      label: 'Server',
      group: 'Authorization server',
      suggest: '',
      options: servers.map(({ id, name }) => ({ value: id, label: verbatim(name) })),
      value: chosen?.id,
      ...(isExisting !== undefined && { when: isExisting }),
    },
    {
      name: 'documents',
      label: 'Accept clients with client ID metadata documents',
      group: 'Unknown clients',
      kind: 'check',
      hint: 'Their client ID is an https address. AI clients such as Claude Code and VS Code use this. Users are asked each time, and see the host.',
      checked: true,
    },
    {
      name: 'registration',
      label: 'Accept clients that register themselves (dynamic registration)',
      group: 'Unknown clients',
      kind: 'check',
      hint: 'For clients that know no such documents. Leave it off if yours do: everybody could register.',
      checked: true,
    },
    {
      name: 'people',
      label: 'Who may use it',
      group: 'Users',
      kind: 'radios',
      value: 'all',
      options: [
        { value: 'all', label: 'Every user' },
        { value: 'some', label: 'The members of these groups' },
      ],
    },
    await pickManyField(
      groupsIn(visit),
      { name: 'groups', label: 'Groups', what: 'groups', group: 'Users', when: { field: 'people', value: 'some' }, ids: [] },
      typed,
    ),
  ];
}

/** Parses a line with a scope and its meaning. */
const toolScope = z.string().transform((line, context) => {
  const [, name = '', words = ''] = /^(\S+)(?:\s+(.*))?$/.exec(line) ?? [];
  const shown = SCOPE_SETTINGS.displayName.schema.safeParse(words || name);
  const isScope = scopeNameProblem(name) === undefined;
  const message = isScope ? shown.error?.issues[0]?.message : 'must begin with a scope: printable ASCII characters without spaces';
  if (message !== undefined) context.addIssue({ code: 'custom', message });
  return { name, words: shown.data ?? '' };
});

const form = z.object({
  url: z
    .string()
    .trim()
    .max(255)
    .transform((typed) => mcpServerUrl(typed))
    .pipe(z.string('must be an https URL without a query, e.g. https://mcp.example.com/mcp (http on this machine only)')),
  name: serverFields.name,
  scopes: z.array(toolScope).min(1).max(100),
  server: z.enum(['new', 'existing']),
  id: z.string().trim(),
  existing: z.string(),
  documents: z.boolean(),
  registration: z.boolean(),
  people: z.enum(['all', 'some']),
  groups: z.array(z.string()).max(1000),
});

export const protectMcpServerPage: ConsolePage = {
  path: '/api/mcp',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const facts = [
      'AI clients discover the authorization server, and their users are asked for consent. This form sets it up. The next page shows the document that your MCP server publishes.',
    ];
    const page = { title: TITLE, crumbs: SERVERS, facts, fields: await fieldsFor(visit, typed), hidden: formKey() };
    return formPage({ ...page, submit: 'Protect MCP server', cancel: SERVERS_HOME }, typed);
  },
  async receive(visit, posted) {
    const typed = parse(form, typedValues(await fieldsFor(visit, NOTHING_TYPED), posted));
    const { url, name, scopes, documents, registration } = typed;
    const input = {
      ...{ url, name, scopes, acceptsDocuments: documents, acceptsRegistration: registration },
      server: typed.server === 'existing' ? { existing: typed.existing } : { id: typed.id || undefined },
      groups: typed.people === 'some' ? await idsNamed(visit, 'group', 'groups', typed.groups) : undefined,
    };
    const serverId = await submitOnce(
      visit,
      posted,
      [PROTECT_MCP_SERVER, input],
      async (services) => (await protectMcpServer(services, input, visit.request)).id,
    );
    const query = new URLSearchParams({ resource: url, name });
    return { goTo: `${addressOfServer(serverId)}/mcp?${query}`, notice: 'mcp-server-protected' };
  },
};
