/** The PostgreSQL release of the npm packages that package.json pins: change both together. */
export const EMBEDDED_RELEASE = { version: '18.4', released: '2026-05-14' } as const;

const DAY_MS = 24 * 3600 * 1000;

/**
 * Age of the embedded PostgreSQL. PostgreSQL publishes security fixes every three months, and the packages follow later.
 * @param version as reported by the server
 * @returns a suffix for the version; empty for a release with an unknown date
 */
export function ageOfEmbedded(version: string, now: Date): string {
  if (version !== EMBEDDED_RELEASE.version) return '';
  const days = Math.floor((now.getTime() - Date.parse(EMBEDDED_RELEASE.released)) / DAY_MS);
  return `, embedded, released ${EMBEDDED_RELEASE.released} (${days} days ago)`;
}
