/** File formats from which users can be imported. */
import type { Services } from '../../platform/database/dependencies.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { itemsOfAuth0, passwordsOfAuth0 } from './formats/auth0.service.ts';
import { itemsOfCsv } from './formats/csv.service.ts';
import { itemsOfKeycloak } from './formats/keycloak.service.ts';
import { itemsOfNdjson } from './formats/ndjson.service.ts';
import { itemsOfOkta } from './formats/okta.service.ts';
import { itemsOfZitadel } from './formats/zitadel.service.ts';
import type { ImportItem } from './import-record.service.ts';

/** Services that a format may need in addition to the file. */
interface FormatContext {
  readonly services: Services;
  /** A second file: auth0's export of password hashes. */
  readonly passwords?: AsyncIterable<Buffer> | undefined;
}

export interface ImportFormat {
  /** Must users have all required custom attributes? */
  readonly isComplete: boolean;
  readonly takesPasswords?: boolean;
  read(source: AsyncIterable<Buffer>, context: FormatContext): AsyncIterable<ImportItem>;
}

export const IMPORT_FORMATS: Readonly<Record<string, ImportFormat>> = {
  ndjson: { isComplete: true, read: itemsOfNdjson },
  csv: {
    isComplete: true,
    async *read(source, { services }) {
      yield* itemsOfCsv(source, (await currentUserSchema(services)).attributes);
    },
  },
  keycloak: { isComplete: false, read: itemsOfKeycloak },
  auth0: {
    isComplete: false,
    takesPasswords: true,
    async *read(source, { passwords }) {
      yield* itemsOfAuth0(source, passwords && (await passwordsOfAuth0(passwords)));
    },
  },
  okta: { isComplete: false, read: itemsOfOkta },
  zitadel: { isComplete: false, read: itemsOfZitadel },
};
