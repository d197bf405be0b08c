/**
 * Where the baselines keep oidc-provider's models: in a Map, or in PostgreSQL the plainest way that a competent user would write, after the
 * library's own example: one table, a column of JSONB, one named prepared statement for each call, on a pool of pg's usual size.
 */

import type { Adapter, AdapterPayload } from 'oidc-provider';
import type pg from 'pg';

/** The library's adapter, and the users, who are found by their login. */
export interface Store {
  adapter(model: string): Adapter;
  prepare(): Promise<void>;
}

const now = (): number => Math.floor(Date.now() / 1000);

export function inMap(): Store {
  const rows = new Map<string, AdapterPayload>();
  return {
    prepare: async () => {},
    adapter: (model) => ({
      async upsert(id, payload) {
        rows.set(`${model}:${id}`, payload);
        if (payload.uid !== undefined) rows.set(`${model}:uid:${payload.uid}`, payload);
      },
      find: async (id) => rows.get(`${model}:${id}`),
      findByUid: async (uid) => rows.get(`${model}:uid:${uid}`),
      findByUserCode: async () => undefined,
      async consume(id) {
        const row = rows.get(`${model}:${id}`);
        if (row !== undefined) row.consumed = now();
      },
      async destroy(id) {
        rows.delete(`${model}:${id}`);
      },
      async revokeByGrantId(grantId) {
        for (const [key, { grantId: of }] of rows) if (of === grantId) rows.delete(key);
      },
    }),
  };
}

const TABLE = `
CREATE TABLE oidc (
  model text NOT NULL,
  id text NOT NULL,
  payload jsonb NOT NULL,
  grant_id text,
  uid text,
  expires_at timestamptz,
  consumed_at timestamptz,
  PRIMARY KEY (id, model)
);
CREATE INDEX ON oidc (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX ON oidc (uid) WHERE uid IS NOT NULL;
CREATE INDEX ON oidc (expires_at)`;

const FOUND = 'SELECT payload, consumed_at FROM oidc WHERE model = $1 AND (expires_at IS NULL OR expires_at > now())';

interface Row {
  readonly payload: AdapterPayload;
  readonly consumed_at: Date | null;
}

export function inPostgres(pool: pg.Pool): Store {
  const found = async (name: string, text: string, values: unknown[]): Promise<AdapterPayload | undefined> => {
    const [row] = (await pool.query<Row>({ name, text, values })).rows;
    return row && { ...row.payload, ...(row.consumed_at !== null && { consumed: row.consumed_at.getTime() / 1000 }) };
  };
  return {
    prepare: async () => void (await pool.query(TABLE)),
    adapter: (model) => ({
      async upsert(id, payload, expiresIn) {
        const expiresAt = expiresIn ? new Date(Date.now() + expiresIn * 1000) : null;
        await pool.query({
          name: 'upsert',
          text: `INSERT INTO oidc (model, id, payload, grant_id, uid, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id, model) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, expires_at = excluded.expires_at`,
          values: [model, id, payload, payload.grantId ?? null, payload.uid ?? null, expiresAt],
        });
      },
      find: (id) => found('find', `${FOUND} AND id = $2`, [model, id]),
      findByUid: (uid) => found('find by uid', `${FOUND} AND uid = $2`, [model, uid]),
      findByUserCode: async () => undefined,
      async consume(id) {
        await pool.query({
          name: 'consume',
          text: 'UPDATE oidc SET consumed_at = now() WHERE model = $1 AND id = $2',
          values: [model, id],
        });
      },
      async destroy(id) {
        await pool.query({ name: 'destroy', text: 'DELETE FROM oidc WHERE model = $1 AND id = $2', values: [model, id] });
      },
      async revokeByGrantId(grantId) {
        await pool.query({ name: 'revoke', text: 'DELETE FROM oidc WHERE grant_id = $1', values: [grantId] });
      },
    }),
  };
}
