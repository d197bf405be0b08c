/**
 * The first schema. Forward only and additive: a later migration adds, none takes away what a running older process reads.
 * Tables of people and things are managed through knex; `oidc_payload` and `browser_session_clients` are the hot path and
 * are reached by prepared statements alone. Times of expiry are written and compared with the service's clock, never SQL's.
 */
import type { Knex } from 'knex';

const DIRECTORY = `
CREATE TABLE organizations (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL UNIQUE,
  origin_id text NOT NULL DEFAULT '',
  type text NOT NULL DEFAULT 'LOCAL',
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);

CREATE TABLE departments (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  org_id text NOT NULL REFERENCES organizations,
  parent_id text,
  name text NOT NULL,
  origin_id text NOT NULL DEFAULT '',
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL,
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, parent_id) REFERENCES departments (org_id, id)
);
CREATE INDEX departments_by_parent ON departments (org_id, parent_id, seq);

CREATE TABLE users (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  login text NOT NULL,
  email text,
  email_verified boolean NOT NULL DEFAULT false,
  status text NOT NULL,
  profile jsonb NOT NULL DEFAULT '{}',
  password_hash text,
  password_changed timestamptz,
  created timestamptz NOT NULL,
  activated timestamptz,
  status_changed timestamptz,
  last_login timestamptz,
  last_updated timestamptz NOT NULL
);
CREATE UNIQUE INDEX users_by_login ON users (lower(login));
CREATE INDEX users_by_email ON users (lower(email)) WHERE email IS NOT NULL;

CREATE TABLE memberships (
  org_id text NOT NULL REFERENCES organizations,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  dep_id text,
  created timestamptz NOT NULL,
  PRIMARY KEY (org_id, user_id),
  FOREIGN KEY (org_id, dep_id) REFERENCES departments (org_id, id)
);
CREATE INDEX memberships_by_user ON memberships (user_id);
CREATE INDEX memberships_by_department ON memberships (dep_id) WHERE dep_id IS NOT NULL;

CREATE TABLE groups (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL UNIQUE,
  description text NOT NULL DEFAULT '',
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);

CREATE TABLE group_members (
  group_id text NOT NULL REFERENCES groups ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created timestamptz NOT NULL,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_by_user ON group_members (user_id);

CREATE TABLE roles (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  type text NOT NULL CHECK (type IN ('SUPER_ADMIN', 'ORG_ADMIN', 'READ_ONLY_ADMIN')),
  org_id text REFERENCES organizations ON DELETE CASCADE,
  created timestamptz NOT NULL,
  CHECK ((type = 'ORG_ADMIN') = (org_id IS NOT NULL)),
  UNIQUE NULLS NOT DISTINCT (user_id, type, org_id)
);

CREATE TABLE api_tokens (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created timestamptz NOT NULL,
  expires_at timestamptz,
  last_used timestamptz
);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id);
`;

const APPLICATIONS = `
CREATE TABLE applications (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  label text NOT NULL,
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  system boolean NOT NULL DEFAULT false,
  settings jsonb NOT NULL,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);

CREATE TABLE application_secrets (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
  secret_sealed text NOT NULL,
  created timestamptz NOT NULL
);
CREATE INDEX application_secrets_by_application ON application_secrets (application_id, seq);

CREATE TABLE application_users (
  application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created timestamptz NOT NULL,
  PRIMARY KEY (application_id, user_id)
);
CREATE INDEX application_users_by_user ON application_users (user_id);

CREATE TABLE application_groups (
  application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
  group_id text NOT NULL REFERENCES groups ON DELETE CASCADE,
  created timestamptz NOT NULL,
  PRIMARY KEY (application_id, group_id)
);
CREATE INDEX application_groups_by_group ON application_groups (group_id);
`;

const AUTHORIZATION_SERVERS = `
CREATE TABLE authorization_servers (
  id text PRIMARY KEY,
  key integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text NOT NULL UNIQUE,
  description text NOT NULL DEFAULT '',
  audience text NOT NULL,
  profile text NOT NULL CHECK (profile IN ('service', 'openid')),
  access_token_format text NOT NULL CHECK (access_token_format IN ('opaque', 'jwt')),
  access_token_seconds integer NOT NULL CHECK (access_token_seconds > 0),
  refresh_token_seconds integer NOT NULL CHECK (refresh_token_seconds > 0),
  refresh_token_window_seconds integer NOT NULL CHECK (refresh_token_window_seconds > 0),
  signing_alg text NOT NULL CHECK (signing_alg IN ('RS256', 'ES256')),
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  system boolean NOT NULL DEFAULT false,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);

CREATE TABLE scopes (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
  name text NOT NULL,
  display_name text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  consent text NOT NULL CHECK (consent IN ('IMPLICIT', 'REQUIRED', 'FLEXIBLE')),
  is_default boolean NOT NULL DEFAULT false,
  optional boolean NOT NULL DEFAULT false,
  system boolean NOT NULL DEFAULT false,
  metadata_publish text NOT NULL DEFAULT 'ALL_CLIENTS' CHECK (metadata_publish IN ('ALL_CLIENTS', 'NO_CLIENTS')),
  UNIQUE (server_id, name)
);

CREATE TABLE claims (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
  name text NOT NULL,
  claim_type text NOT NULL CHECK (claim_type IN ('IDENTITY', 'RESOURCE')),
  value_type text NOT NULL CHECK (value_type IN ('USER_ATTRIBUTE', 'GROUPS', 'ORGANIZATION', 'DEPARTMENT', 'STATIC')),
  value text NOT NULL DEFAULT '',
  scopes text[] NOT NULL DEFAULT '{}',
  always_include boolean NOT NULL DEFAULT false,
  group_filter_type text,
  system boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  UNIQUE (server_id, claim_type, name)
);

CREATE TABLE policies (
  id text PRIMARY KEY,
  server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  priority integer NOT NULL,
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  clients text[] NOT NULL DEFAULT '{ALL_CLIENTS}',
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL,
  UNIQUE (server_id, name)
);

CREATE TABLE policy_rules (
  id text PRIMARY KEY,
  policy_id text NOT NULL REFERENCES policies ON DELETE CASCADE,
  name text NOT NULL,
  priority integer NOT NULL,
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  conditions jsonb NOT NULL,
  actions jsonb NOT NULL,
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL,
  UNIQUE (policy_id, name)
);

CREATE TABLE signing_keys (
  kid text PRIMARY KEY,
  server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
  alg text NOT NULL,
  status text NOT NULL CHECK (status IN ('NEXT', 'ACTIVE', 'RETIRED')),
  public_jwk jsonb NOT NULL,
  private_sealed text NOT NULL,
  created timestamptz NOT NULL,
  activated timestamptz,
  retired timestamptz
);
CREATE INDEX signing_keys_by_server ON signing_keys (server_id, status);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (server_id, alg) WHERE status = 'ACTIVE';

CREATE TABLE consents (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
  server_id text NOT NULL REFERENCES authorization_servers ON DELETE CASCADE,
  scope text NOT NULL,
  created timestamptz NOT NULL,
  PRIMARY KEY (user_id, application_id, server_id, scope)
);

CREATE TABLE identity_providers (
  id text PRIMARY KEY,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL UNIQUE,
  type text NOT NULL CHECK (type IN ('OIDC', 'GOOGLE', 'GITHUB', 'MICROSOFT')),
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE')),
  protocol jsonb NOT NULL,
  client_secret_sealed text,
  policy jsonb NOT NULL DEFAULT '{}',
  created timestamptz NOT NULL,
  last_updated timestamptz NOT NULL
);
`;

const RECORDS = `
CREATE TABLE audit_events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid uuid NOT NULL UNIQUE,
  published timestamptz NOT NULL,
  event_type text NOT NULL,
  severity text NOT NULL DEFAULT 'INFO',
  display_message text NOT NULL,
  actor jsonb NOT NULL,
  client jsonb NOT NULL,
  outcome jsonb NOT NULL,
  target jsonb NOT NULL,
  transaction_id text,
  debug_context jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_events_by_time ON audit_events (published, seq);
CREATE INDEX audit_events_by_type ON audit_events (event_type, seq);

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  ordering_key text NOT NULL,
  payload jsonb NOT NULL,
  created timestamptz NOT NULL,
  due timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  last_error text
);
CREATE INDEX outbox_by_due ON outbox (due);
CREATE INDEX outbox_by_ordering_key ON outbox (kind, ordering_key, seq);

CREATE TABLE settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  last_updated timestamptz NOT NULL
);
`;

/**
 * `server_key` is authorization_servers.key, or 0 for what all servers share (the browser session). `exp_hour` is the
 * epoch hour of `expires_at`, written by the service: a coarse bucket that keeps a re-save a heap-only update.
 */
const PROTOCOL_STATE = `
CREATE TABLE oidc_payload (
  id text COLLATE "C" NOT NULL,
  model smallint NOT NULL,
  server_key integer NOT NULL,
  payload jsonb NOT NULL,
  account_id text COLLATE "C",
  client_id text COLLATE "C",
  grant_id text COLLATE "C",
  uid text COLLATE "C",
  expires_at timestamptz NOT NULL,
  consumed_at timestamptz,
  exp_hour integer NOT NULL,
  PRIMARY KEY (id, model, server_key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX oidc_payload_by_grant ON oidc_payload (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX oidc_payload_by_account ON oidc_payload (account_id) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX oidc_payload_by_uid ON oidc_payload (server_key, uid) WHERE uid IS NOT NULL;
CREATE INDEX oidc_payload_by_expiry ON oidc_payload (exp_hour);

CREATE TABLE browser_session_clients (
  session_uid text COLLATE "C" NOT NULL,
  server_key integer NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  authorization_state jsonb NOT NULL,
  exp_hour integer NOT NULL,
  PRIMARY KEY (session_uid, server_key, client_id)
) WITH (fillfactor = 80);
CREATE INDEX browser_session_clients_by_expiry ON browser_session_clients (exp_hour);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  for (const part of [DIRECTORY, APPLICATIONS, AUTHORIZATION_SERVERS, RECORDS, PROTOCOL_STATE]) await knex.raw(part);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
