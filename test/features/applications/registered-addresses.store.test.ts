/** Look-ups by an address that any application may have registered: preflights (Fetch standard, section 3.2.2) and logout without a hint read no table through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';

const MANY = 10_000;

test(`among ${MANY} applications an origin and a post-logout URI are found by index`, async (t) => {
  const service = await startService(t);
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/callback'] }, { token_endpoint_auth_method: 'none' });
  const settings = `(SELECT settings FROM applications WHERE id = '${clientId}') || jsonb_build_object('allowed_origins', jsonb_build_array('https://app-' || n || '.example', 'https://shared.example'),
    'post_logout_redirect_uris', jsonb_build_array('https://app-' || n || '.example/bye'), 'redirect_uris', jsonb_build_array('https://app-' || n || '.example/callback'))`;
  await onServer(service.database.url, async (sql) => {
    await sql.query(`INSERT INTO applications (id, label, settings, created, last_updated)
      SELECT 'many-' || n, 'Application ' || n, ${settings}, now(), now() FROM generate_series(1, ${MANY}) n`);
    await sql.query('VACUUM ANALYZE applications');
  });
  const counts = () =>
    onServer(service.database.url, async (sql) => {
      const table = await sql.query("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'applications'");
      const indexes = await sql.query("SELECT indexrelname AS name, idx_scan FROM pg_stat_user_indexes WHERE relname = 'applications'");
      const used = (name: string) => Number(indexes.rows.find((row) => row.name === name)?.idx_scan);
      return {
        read: Number(table.rows[0].seq_scan),
        origins: used('applications_by_allowed_origin'),
        addresses: used('applications_by_post_logout_uri'),
      };
    });
  const preflight = async (origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    return (await fetch(`${service.issuer('default')}/token`, { method: 'OPTIONS', headers })).headers.get('access-control-allow-origin');
  };
  const logout = async (uri: string) =>
    (await fetch(`${service.issuer('default')}/logout?${new URLSearchParams({ post_logout_redirect_uri: uri })}`, { redirect: 'manual' }))
      .status;

  await preflight('https://app-1.example');
  const before = await counts();
  for (const n of [1, 7, MANY]) {
    assert.equal(await preflight(`https://app-${n}.example`), `https://app-${n}.example`);
    assert.equal(await logout(`https://app-${n}.example/bye`), 302);
  }
  assert.equal(await preflight('https://shared.example'), 'https://shared.example');
  for (const unknown of ['https://app-0.example', 'https://app-1.example:8443']) {
    assert.equal(await preflight(unknown), null);
    assert.equal(await logout(`${unknown}/bye`), 400);
  }
  await onServer(service.database.url, (sql) => sql.query("UPDATE applications SET status = 'INACTIVE' WHERE id = 'many-7'"));
  assert.equal(await preflight('https://app-7.example'), null);
  assert.equal(await logout('https://app-7.example/bye'), 400);

  // The database counts behind the statements. The origin that all share is at hand in the first row: there the planner may leave the index.
  await eventually(async () => {
    const { origins, addresses } = await counts();
    return origins >= before.origins + 6 && addresses >= before.addresses + 6;
  }, 'the indexes are used');
  // What else happens may have read it, and is counted late.
  assert.ok((await counts()).read < before.read + 5, 'the table is not read through');
});
