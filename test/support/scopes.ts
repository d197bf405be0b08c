/** Scopes of the custom server `default` as a test wants them, over the management API. */
import assert from 'node:assert/strict';
import type { ServiceCalls } from './service.ts';

const PATH = '/authorizationServers/default/scopes';

/** Makes a scope, or changes what is said of one that is there. @param settings as the API names them */
export async function setScope(service: ServiceCalls, name: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const { body: scopes } = await service.api('GET', `${PATH}?q=${encodeURIComponent(name)}`);
  const scope = scopes.find((found: { name: string }) => found.name === name);
  const answer = await (scope === undefined
    ? service.api('POST', PATH, { name, ...settings })
    : service.api('PUT', `${PATH}/${scope.id}`, { ...scope, ...settings }));
  assert.ok([200, 201].includes(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
}
