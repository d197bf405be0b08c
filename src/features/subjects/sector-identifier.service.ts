/** Document at `sector_identifier_uri` (OpenID Connect Dynamic Client Registration section 5), validated whenever an application with it is saved. */
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import type { ApplicationSettings, GivenSettings } from '../applications/application-settings.policy.ts';
import { sectorProblem } from './pairwise.policy.ts';

const FIELD = 'settings.oauthClient.sector_identifier_uri';
const members = z.array(z.string().max(2048)).max(1000);

/** Content of a sector document. */
export interface SectorDocument {
  readonly uri: string;
  /** undefined: it cannot be read. */
  readonly members: readonly string[] | undefined;
}

/** Fetches the document that the settings name, by the guarded client. To be called before a transaction begins. */
export async function readSectorDocument(
  { config }: Pick<Services, 'config'>,
  { sector_identifier_uri: uri }: GivenSettings,
): Promise<SectorDocument | undefined> {
  if (uri === undefined) return undefined;
  try {
    const response = await createOutbound(config)(uri, { headers: { accept: 'application/json' } });
    const read = response.status === 200 ? members.safeParse(await response.json()) : undefined;
    if (read === undefined) await response.body?.cancel();
    return { uri, members: read?.data };
  } catch {
    return { uri, members: undefined };
  }
}

/** @returns why the document does not name the addresses of the application; undefined: it does, or none is needed */
export function sectorDocumentProblem(settings: ApplicationSettings, document: SectorDocument | undefined): string | undefined {
  const uri = settings.sector_identifier_uri;
  if (uri === undefined) return undefined;
  return document?.uri !== uri || document.members === undefined
    ? 'must be a public URL that returns a JSON list of redirect URIs'
    : sectorProblem(settings, document.members);
}

/** @throws {ApiError} validation: the document does not name the addresses of the application */
export function requireSector(settings: ApplicationSettings, document: SectorDocument | undefined): void {
  const problem = sectorDocumentProblem(settings, document);
  if (problem !== undefined) throw validation([{ field: FIELD, message: problem }]);
}
