/** Ways through the console that pass every page of it once: what is said of all pages is tested along them. */
import type { Tour } from './tour.ts';
import { directory } from './tours/directory.ts';
import { tokens } from './tours/tokens.ts';

export const TOURS = { tokens, directory } satisfies Readonly<Record<string, Tour>>;
