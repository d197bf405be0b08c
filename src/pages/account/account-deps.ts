/** Dependencies of the account pages. */
import type { IncomingMessage } from 'node:http';
import type { HostedDeps } from '../hosted/deps.ts';
import type { ApplicationLink } from '../hosted/page-models.ts';

export interface AccountDeps extends HostedDeps {
  /** Is there a playground for this request, so that a page can link to it? */
  playgroundPresent(req: IncomingMessage): boolean;
  /** The link back to an application; undefined: no application with this ID. */
  wayBack(applicationId: string): Promise<ApplicationLink | undefined>;
}
