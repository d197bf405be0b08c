/** What each of the user's own pages is given. */
import type { IncomingMessage } from 'node:http';
import type { WayBack } from '../hosted/facts.ts';
import type { House } from '../hosted/house.ts';

export interface AccountHouse extends House {
  /** Is there a playground for this request, so that a page may lead to it? */
  playgroundPresent(req: IncomingMessage): boolean;
  /** The way back to an application; undefined when there is none of this id. */
  wayBack(applicationId: string): Promise<WayBack | undefined>;
}
