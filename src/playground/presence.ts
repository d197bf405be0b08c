/**
 * Whether the playground is there at all for a request: only where people try the service on their own machine, never behind a proxy
 * (management-api.md, "How it is started and configured"). Where it is not, its paths answer like any unknown page.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../platform/config/config.ts';
import { isForwarded } from '../platform/http/requests.ts';

/** Does the playground exist for this request? */
export function isPresent(config: Pick<Config, 'playground' | 'loopback'>, headers: IncomingHttpHeaders): boolean {
  return config.playground && config.loopback && !isForwarded(headers);
}
