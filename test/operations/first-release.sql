-- A dump (pg_dump --column-inserts) of the database of the first version, commit 1464236, with migration 001 alone: written by that version itself, signed in and
-- exchanged as an application does; organization, group and consent by hand, for it had no API for them yet. What only it knew is in first-release.ts.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.api_tokens (
    id text NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    token_hash text NOT NULL,
    user_id text NOT NULL,
    created timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used timestamp with time zone
);

ALTER TABLE public.api_tokens ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_tokens_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.application_groups (
    application_id text NOT NULL,
    group_id text NOT NULL,
    created timestamp with time zone NOT NULL
);

CREATE TABLE public.application_secrets (
    id text NOT NULL,
    seq bigint NOT NULL,
    application_id text NOT NULL,
    secret_sealed text NOT NULL,
    created timestamp with time zone NOT NULL
);

ALTER TABLE public.application_secrets ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.application_secrets_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.application_users (
    application_id text NOT NULL,
    user_id text NOT NULL,
    created timestamp with time zone NOT NULL
);

CREATE TABLE public.applications (
    id text NOT NULL,
    seq bigint NOT NULL,
    label text NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    system boolean DEFAULT false NOT NULL,
    settings jsonb NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL,
    CONSTRAINT applications_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text])))
);

ALTER TABLE public.applications ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.applications_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audit_events (
    seq bigint NOT NULL,
    uuid uuid NOT NULL,
    published timestamp with time zone NOT NULL,
    event_type text NOT NULL,
    severity text DEFAULT 'INFO'::text NOT NULL,
    display_message text NOT NULL,
    actor jsonb NOT NULL,
    client jsonb NOT NULL,
    outcome jsonb NOT NULL,
    target jsonb NOT NULL,
    transaction_id text,
    debug_context jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE public.audit_events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.authorization_servers (
    id text NOT NULL,
    key integer NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    audience text NOT NULL,
    profile text NOT NULL,
    access_token_format text NOT NULL,
    access_token_seconds integer NOT NULL,
    refresh_token_seconds integer NOT NULL,
    refresh_token_window_seconds integer NOT NULL,
    signing_alg text NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    system boolean DEFAULT false NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL,
    CONSTRAINT authorization_servers_access_token_format_check CHECK ((access_token_format = ANY (ARRAY['opaque'::text, 'jwt'::text]))),
    CONSTRAINT authorization_servers_access_token_seconds_check CHECK ((access_token_seconds > 0)),
    CONSTRAINT authorization_servers_profile_check CHECK ((profile = ANY (ARRAY['service'::text, 'openid'::text]))),
    CONSTRAINT authorization_servers_refresh_token_seconds_check CHECK ((refresh_token_seconds > 0)),
    CONSTRAINT authorization_servers_refresh_token_window_seconds_check CHECK ((refresh_token_window_seconds > 0)),
    CONSTRAINT authorization_servers_signing_alg_check CHECK ((signing_alg = ANY (ARRAY['RS256'::text, 'ES256'::text]))),
    CONSTRAINT authorization_servers_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text])))
);

ALTER TABLE public.authorization_servers ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.authorization_servers_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.browser_session_clients (
    session_uid text NOT NULL COLLATE pg_catalog."C",
    server_key integer NOT NULL,
    client_id text NOT NULL COLLATE pg_catalog."C",
    authorization_state jsonb NOT NULL,
    exp_hour integer NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE public.claims (
    id text NOT NULL,
    seq bigint NOT NULL,
    server_id text NOT NULL,
    name text NOT NULL,
    claim_type text NOT NULL,
    value_type text NOT NULL,
    value text DEFAULT ''::text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    always_include boolean DEFAULT false NOT NULL,
    group_filter_type text,
    system boolean DEFAULT false NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    CONSTRAINT claims_claim_type_check CHECK ((claim_type = ANY (ARRAY['IDENTITY'::text, 'RESOURCE'::text]))),
    CONSTRAINT claims_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text]))),
    CONSTRAINT claims_value_type_check CHECK ((value_type = ANY (ARRAY['USER_ATTRIBUTE'::text, 'GROUPS'::text, 'ORGANIZATION'::text, 'DEPARTMENT'::text, 'STATIC'::text])))
);

ALTER TABLE public.claims ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.claims_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.consents (
    user_id text NOT NULL,
    application_id text NOT NULL,
    server_id text NOT NULL,
    scope text NOT NULL,
    created timestamp with time zone NOT NULL
);

CREATE TABLE public.departments (
    id text NOT NULL,
    seq bigint NOT NULL,
    org_id text NOT NULL,
    parent_id text,
    name text NOT NULL,
    origin_id text DEFAULT ''::text NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL
);

ALTER TABLE public.departments ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.departments_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.group_members (
    group_id text NOT NULL,
    user_id text NOT NULL,
    created timestamp with time zone NOT NULL
);

CREATE TABLE public.groups (
    id text NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL
);

ALTER TABLE public.groups ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.groups_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.identity_providers (
    id text NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    protocol jsonb NOT NULL,
    client_secret_sealed text,
    policy jsonb DEFAULT '{}'::jsonb NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL,
    CONSTRAINT identity_providers_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text]))),
    CONSTRAINT identity_providers_type_check CHECK ((type = ANY (ARRAY['OIDC'::text, 'GOOGLE'::text, 'GITHUB'::text, 'MICROSOFT'::text])))
);

ALTER TABLE public.identity_providers ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.identity_providers_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.knex_migrations (
    id integer NOT NULL,
    name character varying(255),
    batch integer,
    migration_time timestamp with time zone
);

CREATE SEQUENCE public.knex_migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.knex_migrations_id_seq OWNED BY public.knex_migrations.id;

CREATE TABLE public.knex_migrations_lock (
    index integer NOT NULL,
    is_locked integer
);

CREATE SEQUENCE public.knex_migrations_lock_index_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.knex_migrations_lock_index_seq OWNED BY public.knex_migrations_lock.index;

CREATE TABLE public.memberships (
    org_id text NOT NULL,
    user_id text NOT NULL,
    dep_id text,
    created timestamp with time zone NOT NULL
);

CREATE TABLE public.oidc_payload (
    id text NOT NULL COLLATE pg_catalog."C",
    model smallint NOT NULL,
    server_key integer NOT NULL,
    payload jsonb NOT NULL,
    account_id text COLLATE pg_catalog."C",
    client_id text COLLATE pg_catalog."C",
    grant_id text COLLATE pg_catalog."C",
    uid text COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL,
    consumed_at timestamp with time zone,
    exp_hour integer NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.02');

CREATE TABLE public.organizations (
    id text NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    origin_id text DEFAULT ''::text NOT NULL,
    type text DEFAULT 'LOCAL'::text NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL
);

ALTER TABLE public.organizations ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.organizations_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.outbox (
    seq bigint NOT NULL,
    kind text NOT NULL,
    ordering_key text NOT NULL,
    payload jsonb NOT NULL,
    created timestamp with time zone NOT NULL,
    due timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text
);

ALTER TABLE public.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.policies (
    id text NOT NULL,
    server_id text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    priority integer NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    clients text[] DEFAULT '{ALL_CLIENTS}'::text[] NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL,
    CONSTRAINT policies_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text])))
);

CREATE TABLE public.policy_rules (
    id text NOT NULL,
    policy_id text NOT NULL,
    name text NOT NULL,
    priority integer NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    conditions jsonb NOT NULL,
    actions jsonb NOT NULL,
    created timestamp with time zone NOT NULL,
    last_updated timestamp with time zone NOT NULL,
    CONSTRAINT policy_rules_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text])))
);

CREATE TABLE public.roles (
    id text NOT NULL,
    user_id text NOT NULL,
    type text NOT NULL,
    org_id text,
    created timestamp with time zone NOT NULL,
    CONSTRAINT roles_check CHECK (((type = 'ORG_ADMIN'::text) = (org_id IS NOT NULL))),
    CONSTRAINT roles_type_check CHECK ((type = ANY (ARRAY['SUPER_ADMIN'::text, 'ORG_ADMIN'::text, 'READ_ONLY_ADMIN'::text])))
);

CREATE TABLE public.scopes (
    id text NOT NULL,
    seq bigint NOT NULL,
    server_id text NOT NULL,
    name text NOT NULL,
    display_name text DEFAULT ''::text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    consent text NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    optional boolean DEFAULT false NOT NULL,
    system boolean DEFAULT false NOT NULL,
    metadata_publish text DEFAULT 'ALL_CLIENTS'::text NOT NULL,
    CONSTRAINT scopes_consent_check CHECK ((consent = ANY (ARRAY['IMPLICIT'::text, 'REQUIRED'::text, 'FLEXIBLE'::text]))),
    CONSTRAINT scopes_metadata_publish_check CHECK ((metadata_publish = ANY (ARRAY['ALL_CLIENTS'::text, 'NO_CLIENTS'::text])))
);

ALTER TABLE public.scopes ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.scopes_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.settings (
    name text NOT NULL,
    value jsonb NOT NULL,
    last_updated timestamp with time zone NOT NULL
);

CREATE TABLE public.signing_keys (
    kid text NOT NULL,
    server_id text NOT NULL,
    alg text NOT NULL,
    status text NOT NULL,
    public_jwk jsonb NOT NULL,
    private_sealed text NOT NULL,
    created timestamp with time zone NOT NULL,
    activated timestamp with time zone,
    retired timestamp with time zone,
    CONSTRAINT signing_keys_status_check CHECK ((status = ANY (ARRAY['NEXT'::text, 'ACTIVE'::text, 'RETIRED'::text])))
);

CREATE TABLE public.users (
    id text NOT NULL,
    seq bigint NOT NULL,
    login text NOT NULL,
    email text,
    email_verified boolean DEFAULT false NOT NULL,
    status text NOT NULL,
    profile jsonb DEFAULT '{}'::jsonb NOT NULL,
    password_hash text,
    password_changed timestamp with time zone,
    created timestamp with time zone NOT NULL,
    activated timestamp with time zone,
    status_changed timestamp with time zone,
    last_login timestamp with time zone,
    last_updated timestamp with time zone NOT NULL
);

ALTER TABLE public.users ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.knex_migrations ALTER COLUMN id SET DEFAULT nextval('public.knex_migrations_id_seq'::regclass);

ALTER TABLE ONLY public.knex_migrations_lock ALTER COLUMN index SET DEFAULT nextval('public.knex_migrations_lock_index_seq'::regclass);

INSERT INTO public.api_tokens (id, seq, name, token_hash, user_id, created, expires_at, last_used) OVERRIDING SYSTEM VALUE VALUES ('tok_hK8qEfZyeuAnniDqj3j8', 1, 'ADMIN_API_TOKEN', 't2uZVwI72NKzKWY2c7QcCh7-mZHvwI71OzGOeYSl2sc', 'usr_DUKfrYD0r6NiC4USRESx', '2026-11-21 20:27:16.487+00', NULL, '2026-11-21 20:27:16.583+00');

INSERT INTO public.application_secrets (id, seq, application_id, secret_sealed, created) OVERRIDING SYSTEM VALUE VALUES ('sec_mQR4DCMaLDl65bGZhVaK', 1, 'playground', 'v1.k1ncqMH-.gb0aplUUDTJf-KAcXTjHXVW6C7WW_yawwdjA502xnZXtpFk8giWSQ6wQcgRPNUOQmpRlEOMfHpavcjA9V5fmKaY0DRIMvtU', '2026-11-21 20:27:16.509+00');
INSERT INTO public.application_secrets (id, seq, application_id, secret_sealed, created) OVERRIDING SYSTEM VALUE VALUES ('sec_ukB9nuzViGTknBk5e9Zh', 2, 'shop', 'v1.k1ncqMH-.MNT2xFY3Dsp3AuoUu3wxm8jM9c_psNJMtz7XkSLIpH3bJA9g0isg7JL7qmR7n1nHRqo9wL5Tb_tVQhPwtTVF_A', '2026-11-21 20:27:16.746+00');
INSERT INTO public.application_secrets (id, seq, application_id, secret_sealed, created) OVERRIDING SYSTEM VALUE VALUES ('sec_DeaMOyGb9vTSoNuX4ePn', 3, 'careful', 'v1.k1ncqMH-.zGJj9GVlT109yLXA-70tgG4ypXjBKdn5NCiEhwR7Nkwa0Xo_XD0a2KX4UjB7ob0ZGDifCfZFif9TwbyO0pg', '2026-11-21 20:27:16.757+00');

INSERT INTO public.applications (id, seq, label, status, system, settings, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('playground', 1, 'Playground', 'ACTIVE', true, '{"assignment": "EVERYONE", "client_uri": "http://localhost:3999/playground", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": true, "redirect_uris": ["http://localhost:3999/playground/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "TRUSTED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": ["http://localhost:3999/playground"], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}', '2026-11-21 20:27:16.509+00', '2026-11-21 20:27:16.509+00');
INSERT INTO public.applications (id, seq, label, status, system, settings, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('shop', 2, 'Shop', 'ACTIVE', false, '{"assignment": "EVERYONE", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": false, "redirect_uris": ["https://app.example/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "TRUSTED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": ["https://app.example/signed-out"], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}', '2026-11-21 20:27:16.746+00', '2026-11-21 20:27:16.746+00');
INSERT INTO public.applications (id, seq, label, status, system, settings, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('careful', 3, 'Careful', 'ACTIVE', false, '{"assignment": "EVERYONE", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": false, "redirect_uris": ["https://app.example/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "REQUIRED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": [], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}', '2026-11-21 20:27:16.757+00', '2026-11-21 20:27:16.757+00');

INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (1, '8ce6ed0e-39b2-41f0-9dc4-78a9b3b61290', '2026-11-21 20:27:16.244+00', 'oauth2.as.created', 'INFO', 'Create authorization server', '{"id": "system", "type": "SystemPrincipal", "displayName": "Gatehouse"}', '{}', '{"result": "SUCCESS"}', '[{"id": "built-in", "type": "AuthorizationServer", "displayName": "Built-in"}]', NULL, '{"after": {"id": "built-in", "name": "Built-in", "status": "ACTIVE", "system": true, "profile": "service", "audience": "http://localhost:3999/oauth/v1", "signingAlg": "RS256", "description": "Single sign-on for applications: the service is both authorization server and resource server", "accessTokenFormat": "opaque", "accessTokenSeconds": 3600, "refreshTokenSeconds": 7776000, "refreshTokenWindowSeconds": 2592000}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (2, 'aa0691c9-6fda-4456-93e8-03100f8cb475', '2026-11-21 20:27:16.438+00', 'oauth2.as.created', 'INFO', 'Create authorization server', '{"id": "system", "type": "SystemPrincipal", "displayName": "Gatehouse"}', '{}', '{"result": "SUCCESS"}', '[{"id": "default", "type": "AuthorizationServer", "displayName": "default"}]', NULL, '{"after": {"id": "default", "name": "default", "status": "ACTIVE", "system": true, "profile": "service", "audience": "api://default", "signingAlg": "RS256", "description": "The first custom authorization server, for your own APIs", "accessTokenFormat": "jwt", "accessTokenSeconds": 3600, "refreshTokenSeconds": 7776000, "refreshTokenWindowSeconds": 2592000}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (3, '710ae1b6-7e0a-4579-b822-a2bd6dcca7ec', '2026-11-21 20:27:16.484+00', 'user.lifecycle.create', 'INFO', 'Create user', '{"id": "system", "type": "SystemPrincipal", "displayName": "Gatehouse"}', '{}', '{"result": "SUCCESS"}', '[{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}]', NULL, '{"after": {"roles": [{"type": "SUPER_ADMIN"}], "status": "ACTIVE", "profile": {"login": "admin"}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (4, 'b188a5d7-9893-4636-a52e-71532388bb3d', '2026-11-21 20:27:16.492+00', 'system.api_token.create', 'INFO', 'Create API token', '{"id": "system", "type": "SystemPrincipal", "displayName": "Gatehouse"}', '{}', '{"result": "SUCCESS"}', '[{"id": "tok_hK8qEfZyeuAnniDqj3j8", "type": "Token", "displayName": "ADMIN_API_TOKEN"}]', NULL, '{"after": {"name": "ADMIN_API_TOKEN", "userId": "usr_DUKfrYD0r6NiC4USRESx", "expiresAt": null}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (5, 'b56553c9-3b79-44ac-9722-3dc2fe8bc47a', '2026-11-21 20:27:16.514+00', 'application.lifecycle.create', 'INFO', 'Create application', '{"id": "system", "type": "SystemPrincipal", "displayName": "Gatehouse"}', '{}', '{"result": "SUCCESS"}', '[{"id": "playground", "type": "AppInstance", "displayName": "Playground"}]', NULL, '{"after": {"label": "Playground", "status": "ACTIVE", "settings": {"assignment": "EVERYONE", "client_uri": "http://localhost:3999/playground", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": true, "redirect_uris": ["http://localhost:3999/playground/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "TRUSTED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": ["http://localhost:3999/playground"], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (6, '01dff4b9-2b1f-4f23-a8fb-ce7c06e3a516', '2026-11-21 20:27:16.635+00', 'user.lifecycle.create', 'INFO', 'Create user', '{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "usr_TIOE4vZgnb8bYkBqWfFJ", "type": "User", "displayName": "ada"}]', '21b60df9-7e79-46af-afd8-9cbf42b453a8', '{"after": {"status": "ACTIVE", "profile": {"email": "ada@example.com", "login": "ada", "lastName": "Lovelace", "firstName": "Ada"}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (7, '2ee89ff3-5f79-4361-9a44-73d9eb8e4da1', '2026-11-21 20:27:16.738+00', 'user.lifecycle.create', 'INFO', 'Create user', '{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "usr_bIsjvTPqSkH5ICEqDBey", "type": "User", "displayName": "grace"}]', 'db51aca8-2a36-40a0-be64-29b77756e59f', '{"after": {"status": "ACTIVE", "profile": {"email": "grace@example.com", "login": "grace", "displayName": "Grace"}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (8, 'c47b4eea-323e-4cf2-9650-6cf928b4c692', '2026-11-21 20:27:16.747+00', 'application.lifecycle.create', 'INFO', 'Create application', '{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "shop", "type": "AppInstance", "displayName": "Shop"}]', '130a861f-ca55-4207-826a-9e840df046ec', '{"after": {"label": "Shop", "status": "ACTIVE", "settings": {"assignment": "EVERYONE", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": false, "redirect_uris": ["https://app.example/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "TRUSTED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": ["https://app.example/signed-out"], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (9, 'ecdd97a8-9b56-4bd2-8a13-deb121c939c7', '2026-11-21 20:27:16.759+00', 'application.lifecycle.create', 'INFO', 'Create application', '{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "careful", "type": "AppInstance", "displayName": "Careful"}]', '4fd2c9a6-6181-4ad2-8a5c-521ab196d3d7', '{"after": {"label": "Careful", "status": "ACTIVE", "settings": {"assignment": "EVERYONE", "grant_types": ["authorization_code", "refresh_token"], "pkce_required": false, "redirect_uris": ["https://app.example/callback"], "refresh_token": {"leeway": 30, "rotation_type": "ROTATE"}, "consent_method": "REQUIRED", "introspect_any": true, "response_types": ["code"], "allowed_origins": [], "application_type": "web", "post_logout_redirect_uris": [], "token_endpoint_auth_method": "client_secret_basic", "backchannel_logout_session_required": false}}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (10, '960fd810-88f5-4166-86f2-cdd8cff25ed4', '2026-11-21 20:27:16.774+00', 'oauth2.as.created', 'INFO', 'Create authorization server', '{"id": "usr_DUKfrYD0r6NiC4USRESx", "type": "User", "displayName": "admin"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "orders", "type": "AuthorizationServer", "displayName": "Orders"}]', '40926c9b-de5c-40d4-8097-0db1bfe5f637', '{"after": {"id": "orders", "name": "Orders", "status": "ACTIVE", "system": false, "profile": "service", "audience": "https://orders.example", "signingAlg": "ES256", "description": "Orders of the shop", "accessTokenFormat": "jwt", "accessTokenSeconds": 3600, "refreshTokenSeconds": 7776000, "refreshTokenWindowSeconds": 2592000}}');
INSERT INTO public.audit_events (seq, uuid, published, event_type, severity, display_message, actor, client, outcome, target, transaction_id, debug_context) OVERRIDING SYSTEM VALUE VALUES (11, '19a385c5-2bd6-4211-a23a-878161d75ae3', '2026-11-21 20:27:16.912+00', 'user.session.start', 'INFO', 'User login', '{"id": "usr_TIOE4vZgnb8bYkBqWfFJ", "type": "User", "displayName": "ada"}', '{"ipAddress": "127.0.0.1", "userAgent": "node"}', '{"result": "SUCCESS"}', '[{"id": "usr_TIOE4vZgnb8bYkBqWfFJ", "type": "User", "displayName": "ada"}]', '8b243189-79b6-4323-86c5-5e6b98697c09', '{}');

INSERT INTO public.authorization_servers (id, key, name, description, audience, profile, access_token_format, access_token_seconds, refresh_token_seconds, refresh_token_window_seconds, signing_alg, status, system, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('built-in', 1, 'Built-in', 'Single sign-on for applications: the service is both authorization server and resource server', 'http://localhost:3999/oauth/v1', 'service', 'opaque', 3600, 7776000, 2592000, 'RS256', 'ACTIVE', true, '2026-11-21 20:27:16.083+00', '2026-11-21 20:27:16.083+00');
INSERT INTO public.authorization_servers (id, key, name, description, audience, profile, access_token_format, access_token_seconds, refresh_token_seconds, refresh_token_window_seconds, signing_alg, status, system, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('default', 2, 'default', 'The first custom authorization server, for your own APIs', 'api://default', 'service', 'jwt', 3600, 7776000, 2592000, 'RS256', 'ACTIVE', true, '2026-11-21 20:27:16.248+00', '2026-11-21 20:27:16.248+00');
INSERT INTO public.authorization_servers (id, key, name, description, audience, profile, access_token_format, access_token_seconds, refresh_token_seconds, refresh_token_window_seconds, signing_alg, status, system, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('orders', 3, 'Orders', 'Orders of the shop', 'https://orders.example', 'service', 'jwt', 3600, 7776000, 2592000, 'ES256', 'ACTIVE', false, '2026-11-21 20:27:16.764+00', '2026-11-21 20:27:16.764+00');

INSERT INTO public.browser_session_clients (session_uid, server_key, client_id, authorization_state, exp_hour) VALUES ('OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq', 1, 'shop', '{"sid": "MiTNA2cfDLnh-Ja-bh8WwU6WsBUvxKmZkGU7J7Li0Sd", "persistsLogout": true}', 498705);
INSERT INTO public.browser_session_clients (session_uid, server_key, client_id, authorization_state, exp_hour) VALUES ('OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq', 2, 'shop', '{"sid": "NolDu0uusjqNxBbxjO29fK07iHj8Bi18quM8QqB0HV2", "persistsLogout": true}', 498705);
INSERT INTO public.browser_session_clients (session_uid, server_key, client_id, authorization_state, exp_hour) VALUES ('OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq', 3, 'careful', '{"sid": "3OmwJVPE6XB5ZORPyk62fxVSwsL09v1EoLAc_ALV8y9", "persistsLogout": true}', 498705);

INSERT INTO public.consents (user_id, application_id, server_id, scope, created) VALUES ('usr_TIOE4vZgnb8bYkBqWfFJ', 'careful', 'orders', 'profile', '2026-11-21 20:27:30.269494+00');

INSERT INTO public.departments (id, seq, org_id, parent_id, name, origin_id, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('dep_00000000000000000001', 1, 'org_00000000000000000001', NULL, 'Programs', '', '2026-11-21 20:27:17.042+00', '2026-11-21 20:27:17.042+00');

INSERT INTO public.group_members (group_id, user_id, created) VALUES ('grp_00000000000000000001', 'usr_TIOE4vZgnb8bYkBqWfFJ', '2026-11-21 20:27:17.042+00');

INSERT INTO public.groups (id, seq, name, description, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('grp_00000000000000000001', 1, 'Mathematicians', '', '2026-11-21 20:27:17.042+00', '2026-11-21 20:27:17.042+00');

INSERT INTO public.knex_migrations (id, name, batch, migration_time) VALUES (1, '001-foundation', 1, '2026-11-21 20:27:16.031+00');

INSERT INTO public.knex_migrations_lock (index, is_locked) VALUES (1, 0);

INSERT INTO public.memberships (org_id, user_id, dep_id, created) VALUES ('org_00000000000000000001', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'dep_00000000000000000001', '2026-11-21 20:27:17.042+00');

INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('l_fvmnFYggC20833RmJr19hD-Cu_6CAhuaipmVW69qo', 2, 1, '{"amr": ["pwd"], "exp": 1795293136, "iat": 1795292836, "kind": "AuthorizationCode", "nonce": "some-nonce", "scope": "openid profile email offline_access", "grantId": "9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R", "authTime": 1795292836, "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq", "redirectUri": "https://app.example/callback", "codeChallenge": "gACAWMWeBIrldS-ifbhnL7RAPXxIPgJMX41r2yfe3Q0", "codeChallengeMethod": "S256"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', '9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R', NULL, '2026-11-21 20:32:16+00', '2026-11-21 20:27:16+00', 498693);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('bebuqhwFKR3ZFK5Wce9WmVbTMG1UQ53ncesNriXdsI4', 3, 1, '{"exp": 1795296436, "gty": "authorization_code", "iat": 1795292836, "kind": "AccessToken", "scope": "openid profile email offline_access", "grantId": "9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R", "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', '9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R', NULL, '2026-11-21 21:27:16+00', NULL, 498694);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('88y13KMESGH0pBctp728EAJN3WwcuVGhs3TqhaDw_lY', 4, 1, '{"amr": ["pwd"], "exp": 1797884836, "gty": "authorization_code", "iat": 1795292836, "iiat": 1795292836, "kind": "RefreshToken", "nonce": "some-nonce", "scope": "openid profile email offline_access", "grantId": "9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R", "authTime": 1795292836, "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "rotations": 0, "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', '9K7cadaaZ0GIX2sDWEwLqxiu1uobzIr1UFvWHBQV16R', NULL, '2026-12-21 20:27:16+00', NULL, 499413);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('oZQar9g-59cO3UgdJs5cweO40ANp28IvoTyOb1_wmw4', 2, 2, '{"amr": ["pwd"], "exp": 1795293136, "iat": 1795292836, "kind": "AuthorizationCode", "nonce": "some-nonce", "scope": "openid offline_access", "grantId": "zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p", "authTime": 1795292836, "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq", "redirectUri": "https://app.example/callback", "codeChallenge": "61j7hZr83vMfrUHVfHquEUBceR6yG0FdnsZspxvb2l0", "codeChallengeMethod": "S256"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', 'zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p', NULL, '2026-11-21 20:32:16+00', '2026-11-21 20:27:16+00', 498693);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('XHt2QtYNXkd2oXt5el94dzIfwnBP8xctGxEocqZxXE8', 1, 0, '{"amr": ["pwd"], "exp": 1795336036, "iat": 1795292836, "uid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq", "kind": "Session", "loginTs": 1795292836, "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', NULL, NULL, 'OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq', '2026-11-22 08:27:16+00', NULL, 498705);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('5YeHJMM1d1utE4b8PAYzJhGvEwCVxbGFumqWmJuLBbQ', 3, 2, '{"exp": 1795296436, "gty": "authorization_code", "iat": 1795292836, "kind": "AccessToken", "scope": "openid offline_access", "grantId": "zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p", "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', 'zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p', NULL, '2026-11-21 21:27:16+00', NULL, 498694);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('K_ezS_DrObKU3oN4OIGdw576uqtcWEp5upys1cuAom0', 4, 2, '{"amr": ["pwd"], "exp": 1797884836, "gty": "authorization_code", "iat": 1795292836, "iiat": 1795292836, "kind": "RefreshToken", "nonce": "some-nonce", "scope": "openid offline_access", "grantId": "zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p", "authTime": 1795292836, "clientId": "shop", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "rotations": 0, "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'shop', 'zaPQabMfF9METlxVglT_ULgnlKZTP8j1Q1e2J21sz7p', NULL, '2026-12-21 20:27:16+00', NULL, 499413);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('4oO_3YforesnoPLPCtGYyCXXhLV_wKL4nAol5WJpGs8', 2, 3, '{"amr": ["pwd"], "exp": 1795293136, "iat": 1795292836, "kind": "AuthorizationCode", "nonce": "some-nonce", "scope": "openid offline_access", "grantId": "I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj", "authTime": 1795292836, "clientId": "careful", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq", "redirectUri": "https://app.example/callback", "codeChallenge": "U9kl-To1ZA11q2AQBRL_Wi2LylbNNQ87ujVfoQ6fnfc", "codeChallengeMethod": "S256"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'careful', 'I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj', NULL, '2026-11-21 20:32:16+00', '2026-11-21 20:27:16+00', 498693);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('_oa-x0VYVvQ0EwohZNgo2d8EfQN3fxMLTjOk8AUsMPo', 3, 3, '{"exp": 1795296436, "gty": "authorization_code", "iat": 1795292836, "kind": "AccessToken", "scope": "openid offline_access", "grantId": "I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj", "clientId": "careful", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'careful', 'I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj', NULL, '2026-11-21 21:27:16+00', NULL, 498694);
INSERT INTO public.oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, consumed_at, exp_hour) VALUES ('KpamblsQbVcpWz9CKGTLZZn2J7PQzSEX-1lvFJSAs30', 4, 3, '{"amr": ["pwd"], "exp": 1797884836, "gty": "authorization_code", "iat": 1795292836, "iiat": 1795292836, "kind": "RefreshToken", "nonce": "some-nonce", "scope": "openid offline_access", "grantId": "I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj", "authTime": 1795292836, "clientId": "careful", "accountId": "usr_TIOE4vZgnb8bYkBqWfFJ", "rotations": 0, "sessionUid": "OU2Ymx-pzTgCunDq76ogWmTGF74nFPKL5f6UNaoXjcq"}', 'usr_TIOE4vZgnb8bYkBqWfFJ', 'careful', 'I5hUP6BnpPPCGjyiRFy0WURXqk04EUnT72f7gNk5GFj', NULL, '2026-12-21 20:27:16+00', NULL, 499413);

INSERT INTO public.organizations (id, seq, name, origin_id, type, created, last_updated) OVERRIDING SYSTEM VALUE VALUES ('org_00000000000000000001', 1, 'Analytical Engines', '', 'LOCAL', '2026-11-21 20:27:17.042+00', '2026-11-21 20:27:17.042+00');

INSERT INTO public.policies (id, server_id, name, description, priority, status, clients, created, last_updated) VALUES ('pol_vKueuQbWQDphEh3mPAyf', 'built-in', 'Everything', '', 1, 'ACTIVE', '{ALL_CLIENTS}', '2026-11-21 20:27:16.083+00', '2026-11-21 20:27:16.083+00');
INSERT INTO public.policies (id, server_id, name, description, priority, status, clients, created, last_updated) VALUES ('pol_BfYrmUxOtWIaCigZJqK7', 'default', 'Everything', '', 1, 'ACTIVE', '{ALL_CLIENTS}', '2026-11-21 20:27:16.248+00', '2026-11-21 20:27:16.248+00');
INSERT INTO public.policies (id, server_id, name, description, priority, status, clients, created, last_updated) VALUES ('pol_CcQLFJxNiwjn8KEPldgm', 'orders', 'Everything', '', 1, 'ACTIVE', '{ALL_CLIENTS}', '2026-11-21 20:27:16.764+00', '2026-11-21 20:27:16.764+00');

INSERT INTO public.policy_rules (id, policy_id, name, priority, status, conditions, actions, created, last_updated) VALUES ('rul_vkGDLogXezxv9C0vrnvk', 'pol_vKueuQbWQDphEh3mPAyf', 'Everyone', 1, 'ACTIVE', '{}', '{}', '2026-11-21 20:27:16.083+00', '2026-11-21 20:27:16.083+00');
INSERT INTO public.policy_rules (id, policy_id, name, priority, status, conditions, actions, created, last_updated) VALUES ('rul_msrWL7tuP58daRn55Jol', 'pol_BfYrmUxOtWIaCigZJqK7', 'Everyone', 1, 'ACTIVE', '{}', '{}', '2026-11-21 20:27:16.248+00', '2026-11-21 20:27:16.248+00');
INSERT INTO public.policy_rules (id, policy_id, name, priority, status, conditions, actions, created, last_updated) VALUES ('rul_k8xBIgdPRM7J7h2miOyy', 'pol_CcQLFJxNiwjn8KEPldgm', 'Everyone', 1, 'ACTIVE', '{}', '{}', '2026-11-21 20:27:16.764+00', '2026-11-21 20:27:16.764+00');

INSERT INTO public.roles (id, user_id, type, org_id, created) VALUES ('rol_AtlL3vwQsOWm6bRDHne0', 'usr_DUKfrYD0r6NiC4USRESx', 'SUPER_ADMIN', NULL, '2026-11-21 20:27:16.48+00');

INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_FGWjWrwR3PVtGAIqgGcr', 1, 'built-in', 'openid', 'Sign you in', 'Know who you are by a stable identifier', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_qAGAYzQ8BYdxdhc9jdY2', 2, 'built-in', 'profile', 'Your profile', 'Your name, nickname, profile page and time zone', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_qXthEWSBly9x9D3kDBfE', 3, 'built-in', 'email', 'Your e-mail address', 'Your e-mail address and whether it is verified', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_MtmPxmdba66dhL3wn5ah', 4, 'built-in', 'address', 'Your postal address', 'Your postal address', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_NkAOBemNVH3wv8zry6Us', 5, 'built-in', 'phone', 'Your phone number', 'Your phone number', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_LnES8z63beacVPGox9XZ', 6, 'built-in', 'offline_access', 'Stay connected', 'Keep access while you are away, until you or the application end it', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_l4KzD8gr7ZsivwanPuXQ', 7, 'built-in', 'groups', 'Your groups', 'The groups that you belong to', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_WDeVSZCq4Xk4wd3gN4J2', 8, 'default', 'openid', 'Sign you in', 'Know who you are by a stable identifier', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_o9YtgGVC0aoBMrwlSsdG', 9, 'default', 'profile', 'Your profile', 'Your name, nickname, profile page and time zone', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_ARRrMlpGqCckWWx24bRW', 10, 'default', 'email', 'Your e-mail address', 'Your e-mail address and whether it is verified', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_NN5i7tDiZFNT4Xubb8QL', 11, 'default', 'address', 'Your postal address', 'Your postal address', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_fMgRFYyHztq7vbpCIdDk', 12, 'default', 'phone', 'Your phone number', 'Your phone number', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_2Hw1Apc8LxASJKw5M6c8', 13, 'default', 'offline_access', 'Stay connected', 'Keep access while you are away, until you or the application end it', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_aYqGXMdWrhiCWidsBNL3', 14, 'default', 'groups', 'Your groups', 'The groups that you belong to', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_bFgLw85Ef4XtyvNPFHlx', 15, 'orders', 'openid', 'Sign you in', 'Know who you are by a stable identifier', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_JM144EsRzD0V9Jj2fZ1V', 16, 'orders', 'profile', 'Your profile', 'Your name, nickname, profile page and time zone', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_0h4vHzZPDC2cXeAa7KIt', 17, 'orders', 'email', 'Your e-mail address', 'Your e-mail address and whether it is verified', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_9AOIpXHYtAuyvG11YYTw', 18, 'orders', 'address', 'Your postal address', 'Your postal address', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_T6zAqXYCl3ZWWnORmubo', 19, 'orders', 'phone', 'Your phone number', 'Your phone number', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_FQbi958y0mtgLApbLMXf', 20, 'orders', 'offline_access', 'Stay connected', 'Keep access while you are away, until you or the application end it', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');
INSERT INTO public.scopes (id, seq, server_id, name, display_name, description, consent, is_default, optional, system, metadata_publish) OVERRIDING SYSTEM VALUE VALUES ('scp_FPGBtaDU1SpaTpJGZLXS', 21, 'orders', 'groups', 'Your groups', 'The groups that you belong to', 'IMPLICIT', false, false, true, 'ALL_CLIENTS');

INSERT INTO public.settings (name, value, last_updated) VALUES ('first-start', '{"done": true}', '2026-11-21 20:27:16.494+00');

INSERT INTO public.signing_keys (kid, server_id, alg, status, public_jwk, private_sealed, created, activated, retired) VALUES ('XMt_7IiA3E7C3OsCb9sWfeIY4KmB045cj10ZR53OKQM', 'built-in', 'RS256', 'ACTIVE', '{"e": "AQAB", "n": "vWc6QJNKsYlrCbyQ6BDR7PgWj92ez0K0iGpW49Pc5gG4RMw__pNsw2atrzpX6sOh-eKDA0FgGSbCYcKDEp0aG9trCuCYt0npYqAIa2q4gj7HJQ9wN2mlkD1cCfCCawttcQ8vUcS2xly6pKUMJ0XklPeMolm6RKjj82EgQFgL93Ci-MZldzr66ub6WwtSZc2JvichxcVNpAMO3yxT884m7fqlNtppnwa-KsS1pZkDxoSyS39RpEx4D0shMEsqPf5ux-pQdwZiaDnXEQ7XNFJNc5aTyVf8iIfQ8gjM0YbzI9FpbhufUAoEDmFkrY3Ouxfp8oGwt7aC3YmD3u08c9LLTw", "alg": "RS256", "kid": "XMt_7IiA3E7C3OsCb9sWfeIY4KmB045cj10ZR53OKQM", "kty": "RSA", "use": "sig"}', 'v1.k1ncqMH-.RU1BNR68O4J4Z2kvzOU0-aUvrDSrcjzP9u9vrEIFR7iGW4km51E1yj74QYbkEBRhp173OU72dJijBAb_Kk0EgCy89yWSff8U6URpFdCPY9UvXC3HB6pPt84zHVjs0pTjv6JNo6qIlERls__aPjkMdbUrSoL1Xk_nIqv3guig5hi8svkAoAvAvC3JSlCeUCAk1ctBHdI2TzHiBkiNsmuUsdyfj09PlYB7O6t2_BDUJQA5U_c9oppph8rKPFsxnvAnilPKdWC8jvPIja_lyv9NUXkPdlu-5kCDUmv-CUv3mj2qXRdq1zY3CVMgwt5AJ8s2s6SZ2sHKWSzoiKJM_Yo5fuE6GzdGRp9bxyV0NWOCV1LeHB8huy-6pEKLx4g9jbJikRlm_eEeVddoCUMhCV24SdDpYjhax9qjBtnMAo3V30D7CwrbP0hbqGqKXlgvryB03m4EfnytwhRrVf58fmpB3kYnJWlgxEL--nCQvl3d4NOFhKy1Ozc0kEomBoCHuR_5v4UB3A0tCay1uVukS7PvKbEyXi-bPDn9bYWVCeACnFzepFswsncurkKWWJixvMTzwiaHkjd4Lm_3EYYdi6FfCpLw7W4dxD0vWtbUggPiYc_F_dr__l5_hh6j1OtnwoWkGDBkxwq0OkA40g124062CzU9eSbj0k59dDseK_sHDqJU_UHdTDY0x1_dhwI8wJMyuM_-8tQDRpgJqRTQWb2o5sG1Ybb5JTtT04uEl7s9CoWi96G68xqpxgWeHrMBtheVC6nVCeHY96IR_rw4ATQCYM8KG8mamGXqJOWVfMV_2gi_z47YfADtXW2LEyMDKQApBPHoqRJsC4s7QxoUreauIkDVb8hCLZkRNZWjHpHxIJKiJjJ-5mANWdZSd_67kTvwEYSXgRQbN-dxTpUgASy9G5n9PpUD2N6SqdGhyyzbWbPM8nXY6oesm7Y1IC9e4VluU0zg3UNebKNKXen7ZPU96iUtVEQYPZBmRB2qdjxllKeu87aG7lmeqwgPmQlBJVWdUomp751adE2WsloToOOL4TmHR7cnkUzgsMT8IySf6TC7m7Q5Nx_KwoVL8ERh40dl6cNOmLkM5A1jk7TQGrUVruUJEEP7CEurlEB47cWkL0oW1nQbKmBCZw0weKw_nPUACmUHvhVK8_k2ZLP85nnJt3Nv-78AtvEftTxn0OOtfOkufmZa1KWeQ6qPpfz2w3NFO02pno39O-uX5zoKamqZ-zdbtyM-j4v81jxFkzY23AcS7znkZlPVJHDLCPe1W8LiIHlHaiLV3uQEDW4aQXzGVkx88MiKMHmt-upT0ZLJ9TTEPIB2Hu7tZwcf2O_riS9buVOLuwrQLGQoOzbE5pfEH6hiu_IkHYYrM-xByTZJGuO3997EUnqadKWv77E1-lpa3QO_Ap5YDPTR2CorMccXcUnKu9RzBNH8WoxZLctQZrlN-C12p22z5aj91WaBS9A87w6FRmF2GOqsTLIANu7tDSjQ6FVCL4sfclP3b0Ov6bwdTS70rY2eUz8NCNeJCC4mTybD2qOv3Jd8MytX_91USxEGrs6J7DUQYH_vYeYVdn9E_v4VubYJ2sW16AQsMOT0rTzgulwT1tAB6HAswrb5n2MrEBaM7r3w3gBZZ79vqyzLMX-hN9bdaSNSH0_7lSmh7v3U4i67ZlNhkBrOm4K-0_ITnS2vXEF6om1kZoA_uoNIFCxmLA0GPl7JF2-kVTaULbHMkwUGidoLVxpBGdXy1h4H0jObusCKizK5Q8bVEX3Lhrtk03FeViY08JsY3-X8qIAvNfBNehPttYMhXcUQyq0cX2tFPB5KZ9gWPsCrBufFpHKq5-j8K2-dntAH29FezLs72e1wy7MfJy_SbPpE-BP5cSJWdU3HZLkTibjYOhMHNfg-1ejIDokisLI_gNWOty-bxz-yMjb-dhSe7XtwNf8te1Uft_jeJeJN-adg8iuvO2fkZXVncD-JpwPV0L486VOZZNuDCk_k5c7Svw22Krg_oLbAdumTPpGsul9kpXFS83B8YbR_hlLAe_F5Pppp9J2cU3HCMohWhjmx86LG9WGRCWMNu8qjceD4bF1sH9-dBGx4i_AYEdETX09N9HIStaK2PBGCX0l6peU0Nb6ltEmjsR21d0hXtL4AQuPvo6f-AnbpCFghsUc59yQZAftlripMO4Z3orx_L75m_ZE_hZiSJa2g5imDDLeKOZ2kUOnfATwwnXyxrg_88dJvZI4d0zrXIOA8MaJDabHJwQQ9wg_WGONd-00Iw9AlW0y8iXlote7NiSgcBwY', '2026-11-21 20:27:16.227+00', '2026-11-21 20:27:16.227+00', NULL);
INSERT INTO public.signing_keys (kid, server_id, alg, status, public_jwk, private_sealed, created, activated, retired) VALUES ('5b6BeLnh19q8BM1PzBbHHTPUdY47dCoC2oDTho9tkdQ', 'default', 'RS256', 'ACTIVE', '{"e": "AQAB", "n": "3f6fxhXMe4kakQgmyAr12Ljz8gqWOiqsX43vdmfSX-T_soXq7DZEM9-AcL-HbYni2XIueLrpcOOddiKl2c8CxTkGr7-6eGvkE1WGS4JtPH6gzu3umcWXq6UeV12-r0oJEHkDK6nim1RBMHBxGlq__XQNCkJTBmJ46j_ucBzlA1-BDIVZAS3Hz9AbGqpxcYCeemzLJgLL-dwlYvK4YgO0i6BBSBBeieKdB4JDjHkqzRDnAIriwrfWWUJep09NXdmsJz-wDffB2Tm3r84LMpSRURWjS7dxU7L2kGpUlhC9PtwnFGE9MSWnISD5nlYPnacdnVMcW3G37ASAAP6ZXQv-EQ", "alg": "RS256", "kid": "5b6BeLnh19q8BM1PzBbHHTPUdY47dCoC2oDTho9tkdQ", "kty": "RSA", "use": "sig"}', 'v1.k1ncqMH-.0Ww-gIVF2ZBNXnNi-7yXyktP37M7aIGKafvvIptfUb01-fXByxOQ4QKndvJx9Nqwr2A6AuO1g1gRevr2dbI65-vMIOBhKjuzIqKRur_tmFqwntc0EiLUKHDCTucMs309KzK1VUT4DqpF8K7UvjBmO5sqR2XvmtTzwN6h7xIG03kBlMflFFoxogtvUP5AqYpYs_s5QI0hVQ2JMz101RakR1bAN4XgUIoaOf3aPG-DEWwXQQiJlrXgHhxvlGb0bxe3pbiYlZnr8h5gxXAZfT5Wz-nf-Ebt4D-sBuE0IdX8-h96lrpmvdB4KkSvFsA6iLizp6TIahnoFhwNSMpcCsNTHrSY6jLd5x43G5PfmFg8IoWuQh0uovYxYA6egJtQUD8Wf6rauUbqdxVlWtDhsWyUehzUKON8sbJOWrC5ZqhzNSidBHBPUrpnmhkt-aIqxfIso8sMZ_yNqmr3A4Pzu0a2WfabGo8vmSg2GbCoxTM6dBLe_kv9qKABXHjLI60Gpd2YSM9AjNXQgmNPc_kopPDSIkHqAKWluhprohtzisUVnTJ_zDFKr4aUeO14t_5TOEGEIxK8Cj3YPEDUNaINsLiZpdAFaxDse7MRibF5W-i7avLXuXEPpTB5TJZxoyqKUj1rq3336RlRgX64aXZFQhBna3q-syekZYYoz3AkGiis7apmH9r-PWRTiHXoMI1Z4CM6snMtJG638XOcY-F6UspE35cxuPIx46uIl3t3sblbp9O695mJAIsyN4cpLz6elqSRoHOrJExuI4LNVXT5LJlEFxZu9ZXy80712MAtqiEmtGsFItYsO9zzTeVakmH6Bv7yZgAO5wwzj6o8_BT9g384rZlWzOsgLHeEHK17BF2vvoIUvQxmZq5quPu1xHphrkdHbfOEb5GEUbbOOyhhk06FsWzRHUDLA3Mu0rL6X-_p72yGoYJETN-QfNw3_rOnSRkXsucVxtrrmKvSD91TrUuRqZUgIm5thUYmCUPuUtJWWM9Ad0yeZSarYnK1n1hAhnppgZDpR8rMsliM8FHQL4Ioo4xrd941cb50AkQAD7WhxMiH_gKxbaURiQSI1Aq2g_M5injxitg8FJYc-uHuiXj5GR5Z0Heomvq9xv0zaqOJKDfK13hrgHkPZdOtnBUaIDwk5a2G1kugmOCraByikdHHT5U5RrbOQdmdqDDslF7biUnlM1XpJolFkwE9UadRVvnQivKuPzUJumjF_IEtdaYg-XyHajbIqIDeB5MlofKtgqaXaiVPXB81tx2kmn8Dl7a7GKMu4kcO9lAoLGDK5eidWDfnrANsQkRzOhU8tPhTi_Km9iWQNI-h-Q3o4OFpdSlijj4PoTyMgYNw5t_iWESgewfskMuPN-YmvcrByaLD75OL8MIPiscFTgMcylSsClsFJ31gwA4-wNnLI89WqqgZvUagqOB-XLAqcNvXDDSU2SZj8xiPchJ_lp8K99_b9a2tCAkAnGUToF7tcXzt9sB-gfNcHUEfCoeNalJJ7BmTW6MMcm235_ijBbCZn3Mm-DolpT4ly-2vLsh5RTxWKQlR8mUXffynou0eEo0ji8pOFXkq-7Zj8rnXhYO2TnsyQ9IWKl3APkMDBsNRLOITMNTLk3czHVC87oc737zEoh5yGpW3BEeiR4TKKUDjXOJLcpGHbmI-MRbJfeJyyGvDmbp05ctau-v7Qem6Lxy6ia-hmDFNC-9eklB1KUUEJ3PrVFig__CLl6htrX8-7kwalrEMPO-No-yjR3UQPBePdMC8YvnL1fpx6T7aQj_XMEMjx8obBlxWqOM_LzGgYfnZcRy-YMJuyC2OdKv2wPN2xdOAa9vtOoYA9Ltcj4zO8ivwYO8nlWq_QikiRD_tqNUBivCmZOAZvs2vhkPj7dodeLE25NXXgNQuBukKxzkg61Xq327_df5vit8G4EcHuDj0yH3MIiJBkDGmk59qCyE60ToxkjnNtZc6NNHQcl0TQgkx5gxRf5SDt2A4Pw5StbVRxRRv87DZO0VJWLP-sHK4WPpk2KNe4dNVJ-O-XltrrGVJCObcdzARHFs1izgfOuHfbrOI9axVO4x0HDD5UATV4b4164rwOiF8BDo1XMUnoxzSNG4r1SSianqkn_f6WZD3I6SFc83duz7dREzrI7voKM8ZKLB0SS4qSA7OuHQQYr5HivUm4tuh2J8FEHj3lsPlQ5x6SU66cjgjwXVUxm9x62mnjn-Rsu5PdlWcKvL2OZqAnthJXsVQ67HRARBMcdoBAC3EVujlcruLgeWecxVs8yHTNo4D1y0blD4IVJA', '2026-11-21 20:27:16.429+00', '2026-11-21 20:27:16.429+00', NULL);
INSERT INTO public.signing_keys (kid, server_id, alg, status, public_jwk, private_sealed, created, activated, retired) VALUES ('LcPyKxRR-HN7OM-F_37BK726QVWFQxAQHSflZXS_Tic', 'orders', 'ES256', 'ACTIVE', '{"x": "DX3sVnmJnKlYKi9mdbwyPmf7FbyScacDbVYvM8MX61M", "y": "EVYwfiWRh_CyFwltYiy9T-7ZIVOiB0B7tQkXZFbDSSQ", "alg": "ES256", "crv": "P-256", "kid": "LcPyKxRR-HN7OM-F_37BK726QVWFQxAQHSflZXS_Tic", "kty": "EC", "use": "sig"}', 'v1.k1ncqMH-.guzr4Bs6BSw8gc1skvft32DElkKEBnJqnB8IWv4ExJCNdSobs07HslKHawN_7eST2v8Os6agankAfbafOcSqJ7nPFXuczR1rRqmB-FKYPZw0Pi8WYJXiqasU5eRabqg7-E-nbzHjpvXBsD_r7ucGAM26bcFNnk2HTxOCr6LJWe-dNieP-wrrISPeJHRcECpyJnH1GyEps6gIw4GoCPUybFZTFXjdLR1gqxM2S81f7kJGxItYqvUVTSZLDmYd6UcHSC1OGRVZ1z6KA_fy6EAvVD2CL3cY0ySFHQCwpqq0qIfOqLztxg05BjAD6iWOdSZddKUOW9wc13Xv7DIytemEz4iiYjhCZfRkdGFPgTeb_wfvRySiTwew3oSy', '2026-11-21 20:27:16.765+00', '2026-11-21 20:27:16.765+00', NULL);

INSERT INTO public.users (id, seq, login, email, email_verified, status, profile, password_hash, password_changed, created, activated, status_changed, last_login, last_updated) OVERRIDING SYSTEM VALUE VALUES ('usr_DUKfrYD0r6NiC4USRESx', 1, 'admin', NULL, false, 'ACTIVE', '{}', '$argon2id$v=19$m=19456,t=2,p=1$U3H53L+/GEY2v3p6jbyH4A$78eiZPicn4SPLVY6Rn3HqrkJKDTN1Dwe/+xRSrCnogA', '2026-11-21 20:27:16.48+00', '2026-11-21 20:27:16.48+00', '2026-11-21 20:27:16.48+00', '2026-11-21 20:27:16.48+00', NULL, '2026-11-21 20:27:16.48+00');
INSERT INTO public.users (id, seq, login, email, email_verified, status, profile, password_hash, password_changed, created, activated, status_changed, last_login, last_updated) OVERRIDING SYSTEM VALUE VALUES ('usr_bIsjvTPqSkH5ICEqDBey', 3, 'grace', 'grace@example.com', false, 'ACTIVE', '{"displayName": "Grace"}', '$argon2id$v=19$m=19456,t=2,p=1$6TtHr4koyKvP6lcaUMAJJg$5msZIDkqBRAK/ZRLuP2baQnVZSTng7gc5wiymCzbTBA', '2026-11-21 20:27:16.736+00', '2026-11-21 20:27:16.736+00', '2026-11-21 20:27:16.736+00', '2026-11-21 20:27:16.736+00', NULL, '2026-11-21 20:27:16.736+00');
INSERT INTO public.users (id, seq, login, email, email_verified, status, profile, password_hash, password_changed, created, activated, status_changed, last_login, last_updated) OVERRIDING SYSTEM VALUE VALUES ('usr_TIOE4vZgnb8bYkBqWfFJ', 2, 'ada', 'ada@example.com', false, 'ACTIVE', '{"lastName": "Lovelace", "firstName": "Ada"}', '$argon2id$v=19$m=19456,t=2,p=1$KX5MoXbl3lZdVSEK9UrU2g$FmvxaRwvyd4+7h93zU795bQII7BWhd6/MedsnE2NV/g', '2026-11-21 20:27:16.633+00', '2026-11-21 20:27:16.633+00', '2026-11-21 20:27:16.633+00', '2026-11-21 20:27:16.633+00', '2026-11-21 20:27:16.91+00', '2026-11-21 20:27:16.633+00');

SELECT pg_catalog.setval('public.api_tokens_seq_seq', 1, true);

SELECT pg_catalog.setval('public.application_secrets_seq_seq', 3, true);

SELECT pg_catalog.setval('public.applications_seq_seq', 3, true);

SELECT pg_catalog.setval('public.audit_events_seq_seq', 11, true);

SELECT pg_catalog.setval('public.authorization_servers_key_seq', 3, true);

SELECT pg_catalog.setval('public.claims_seq_seq', 1, false);

SELECT pg_catalog.setval('public.departments_seq_seq', 1, true);

SELECT pg_catalog.setval('public.groups_seq_seq', 1, true);

SELECT pg_catalog.setval('public.identity_providers_seq_seq', 1, false);

SELECT pg_catalog.setval('public.knex_migrations_id_seq', 1, true);

SELECT pg_catalog.setval('public.knex_migrations_lock_index_seq', 1, true);

SELECT pg_catalog.setval('public.organizations_seq_seq', 1, true);

SELECT pg_catalog.setval('public.outbox_seq_seq', 1, false);

SELECT pg_catalog.setval('public.scopes_seq_seq', 21, true);

SELECT pg_catalog.setval('public.users_seq_seq', 3, true);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.application_groups
    ADD CONSTRAINT application_groups_pkey PRIMARY KEY (application_id, group_id);

ALTER TABLE ONLY public.application_secrets
    ADD CONSTRAINT application_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_pkey PRIMARY KEY (application_id, user_id);

ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_uuid_key UNIQUE (uuid);

ALTER TABLE ONLY public.authorization_servers
    ADD CONSTRAINT authorization_servers_key_key UNIQUE (key);

ALTER TABLE ONLY public.authorization_servers
    ADD CONSTRAINT authorization_servers_name_key UNIQUE (name);

ALTER TABLE ONLY public.authorization_servers
    ADD CONSTRAINT authorization_servers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.browser_session_clients
    ADD CONSTRAINT browser_session_clients_pkey PRIMARY KEY (session_uid, server_key, client_id);

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_server_id_claim_type_name_key UNIQUE (server_id, claim_type, name);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (user_id, application_id, server_id, scope);

ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_org_id_id_key UNIQUE (org_id, id);

ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_pkey PRIMARY KEY (group_id, user_id);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_name_key UNIQUE (name);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_name_key UNIQUE (name);

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.knex_migrations_lock
    ADD CONSTRAINT knex_migrations_lock_pkey PRIMARY KEY (index);

ALTER TABLE ONLY public.knex_migrations
    ADD CONSTRAINT knex_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.oidc_payload
    ADD CONSTRAINT oidc_payload_pkey PRIMARY KEY (id, model, server_key);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_name_key UNIQUE (name);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_server_id_name_key UNIQUE (server_id, name);

ALTER TABLE ONLY public.policy_rules
    ADD CONSTRAINT policy_rules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.policy_rules
    ADD CONSTRAINT policy_rules_policy_id_name_key UNIQUE (policy_id, name);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_user_id_type_org_id_key UNIQUE NULLS NOT DISTINCT (user_id, type, org_id);

ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_server_id_name_key UNIQUE (server_id, name);

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_seq_key UNIQUE (seq);

CREATE INDEX api_tokens_by_user ON public.api_tokens USING btree (user_id);

CREATE INDEX application_groups_by_group ON public.application_groups USING btree (group_id);

CREATE INDEX application_secrets_by_application ON public.application_secrets USING btree (application_id, seq);

CREATE INDEX application_users_by_user ON public.application_users USING btree (user_id);

CREATE INDEX audit_events_by_time ON public.audit_events USING btree (published, seq);

CREATE INDEX audit_events_by_type ON public.audit_events USING btree (event_type, seq);

CREATE INDEX browser_session_clients_by_expiry ON public.browser_session_clients USING btree (exp_hour);

CREATE INDEX departments_by_parent ON public.departments USING btree (org_id, parent_id, seq);

CREATE INDEX group_members_by_user ON public.group_members USING btree (user_id);

CREATE INDEX memberships_by_department ON public.memberships USING btree (dep_id) WHERE (dep_id IS NOT NULL);

CREATE INDEX memberships_by_user ON public.memberships USING btree (user_id);

CREATE INDEX oidc_payload_by_account ON public.oidc_payload USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX oidc_payload_by_expiry ON public.oidc_payload USING btree (exp_hour);

CREATE INDEX oidc_payload_by_grant ON public.oidc_payload USING btree (grant_id) WHERE (grant_id IS NOT NULL);

CREATE UNIQUE INDEX oidc_payload_by_uid ON public.oidc_payload USING btree (server_key, uid) WHERE (uid IS NOT NULL);

CREATE INDEX outbox_by_due ON public.outbox USING btree (due);

CREATE INDEX outbox_by_ordering_key ON public.outbox USING btree (kind, ordering_key, seq);

CREATE INDEX signing_keys_by_server ON public.signing_keys USING btree (server_id, status);

CREATE UNIQUE INDEX signing_keys_one_active ON public.signing_keys USING btree (server_id, alg) WHERE (status = 'ACTIVE'::text);

CREATE INDEX users_by_email ON public.users USING btree (lower(email)) WHERE (email IS NOT NULL);

CREATE UNIQUE INDEX users_by_login ON public.users USING btree (lower(login));

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.application_groups
    ADD CONSTRAINT application_groups_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.application_groups
    ADD CONSTRAINT application_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.application_secrets
    ADD CONSTRAINT application_secrets_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_server_id_fkey FOREIGN KEY (server_id) REFERENCES public.authorization_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_server_id_fkey FOREIGN KEY (server_id) REFERENCES public.authorization_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_org_id_parent_id_fkey FOREIGN KEY (org_id, parent_id) REFERENCES public.departments(org_id, id);

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_org_id_dep_id_fkey FOREIGN KEY (org_id, dep_id) REFERENCES public.departments(org_id, id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_server_id_fkey FOREIGN KEY (server_id) REFERENCES public.authorization_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.policy_rules
    ADD CONSTRAINT policy_rules_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES public.policies(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_server_id_fkey FOREIGN KEY (server_id) REFERENCES public.authorization_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_server_id_fkey FOREIGN KEY (server_id) REFERENCES public.authorization_servers(id) ON DELETE CASCADE;

