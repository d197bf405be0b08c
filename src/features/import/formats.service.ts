/** The formats of files that users can be imported from. */
import type { Services } from '../../platform/database/dependencies.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { itemsOfCsv } from './formats/csv.service.ts';
import { itemsOfKeycloak } from './formats/keycloak.service.ts';
import { itemsOfNdjson } from './formats/ndjson.service.ts';
import type { ImportItem } from './import-record.service.ts';

export interface ImportFormat {
  /** What its help says. */
  readonly source: string;
  /** Must users have the attributes that operators have made required? */
  readonly isComplete: boolean;
  read(source: AsyncIterable<Buffer>, services: Services): AsyncIterable<ImportItem>;
}

export const IMPORT_FORMATS: Readonly<Record<string, ImportFormat>> = {
  ndjson: {
    source: 'one JSON object a line, as POST /api/v1/users takes them or `gatehouse export users` writes them',
    isComplete: true,
    read: itemsOfNdjson,
  },
  csv: {
    source: 'a table whose first row names the columns',
    isComplete: true,
    async *read(source, services) {
      yield* itemsOfCsv(source, (await currentUserSchema(services)).attributes);
    },
  },
  keycloak: { source: 'a realm that `kc.sh export` has written', isComplete: false, read: itemsOfKeycloak },
};
