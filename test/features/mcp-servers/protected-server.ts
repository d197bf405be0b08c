/** An MCP server as the console's page gives it, and a call of its tool by the official SDK. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { folderWith, startApplication } from '../../long/foreign/setting.ts';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { freePort } from '../../support/process.ts';
import type { Service } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';

const decoded = (html: string): string =>
  html.replace(
    /&(amp|lt|gt|quot|#34|#39);/g,
    (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" })[name as string] ?? '',
  );

/** A text to copy of the console's page. */
export const copied = ({ text }: Page, id: string): string =>
  decoded(new RegExp(`<pre id="${id}"[^>]*>([\\s\\S]*?)</pre>`).exec(text)?.[1] ?? '');

export const transportOf = (url: string, agent: OAuthClientProvider) =>
  new StreamableHTTPClientTransport(new URL(url), { authProvider: agent });

export async function callTool(t: TestContext, url: string, agent: OAuthClientProvider): Promise<unknown> {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  t.after(() => client.close());
  await client.connect(transportOf(url, agent) as Transport);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['whoami'],
  );
  const { content } = await client.callTool({ name: 'whoami', arguments: {} });
  return (content as { text: string }[])[0]?.text;
}

/** An MCP server that was protected by the console alone. */
export async function protectedServer(t: TestContext, service: Service) {
  const port = await freePort();
  const url = `http://localhost:${port}/mcp`;
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/api/mcp');
  const page = await agent.submit(form, 'console-form', {
    ...{ url, name: 'Notes', id: 'notes' },
    scopes: 'notes:read Read your notes\nnotes:write Change your notes',
  });
  assert.equal(page.url.pathname, '/admin/api/servers/notes/mcp', wordsOf(page));
  const cwd = folderWith(t, { 'server.mjs': copied(page, 'sdk-server') });
  symlinkSync(path.resolve('node_modules'), path.join(cwd, 'node_modules'));
  await startApplication(t, cwd, { PORT: port }, 'node', 'server.mjs');
  return { url, page };
}
