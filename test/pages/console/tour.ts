/** A way through the console that passes pages with something on them. */
import type { Service } from '../../support/service.ts';

/** Makes what the pages are to show. @returns the addresses below `/admin`, with what they need in their query */
export type Tour = (service: Service) => Promise<readonly string[]>;

/** A name without a space to break it at. */
export const LONG = `${'Gesellschaft'.repeat(20)}!`;
