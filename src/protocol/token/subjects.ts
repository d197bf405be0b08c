/** The `sub` of a user for each client (OpenID Connect Core section 8). */
import { subjectFor, userBehind } from '../../features/subjects/pairwise-subjects.service.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';

export interface Subjects {
  /** @returns the user's ID, or the subject of the client's sector */
  of(client: object, userId: string): Promise<string>;
  /** @returns ID of the user with this subject at the client; undefined: none */
  userOf(client: object, subject: string): Promise<string | undefined>;
}

export const createSubjects = (parts: Pick<ProviderParts, 'database' | 'keyring'>): Subjects => ({
  of: (client, userId) => subjectFor(parts, clientSettings(client).sector, userId),
  userOf: (client, subject) => userBehind(parts, clientSettings(client).sector, subject),
});
