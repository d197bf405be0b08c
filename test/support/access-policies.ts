/**
 * Access policies of a server, written straight into its database: the management API has no operations for them yet, and what they do at the
 * OAuth endpoints is tested before. A change of the server that changes nothing makes the service look at them again.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RuleActions, RuleConditions } from '../../src/policy/access-policy.ts';
import { onServer } from './database.ts';
import type { Service } from './service.ts';

export interface PolicyRow {
  readonly clients?: readonly string[];
  readonly status?: 'ACTIVE' | 'INACTIVE';
  readonly rules: readonly {
    readonly conditions?: RuleConditions;
    readonly actions?: RuleActions;
    readonly status?: 'ACTIVE' | 'INACTIVE';
  }[];
}

/** Puts these in place of a server's policies; they count in this order. */
export async function setPolicies(service: Service, serverId: string, policies: readonly PolicyRow[]): Promise<void> {
  await onServer(service.database.url, async (client) => {
    await client.query('BEGIN');
    await client.query('DELETE FROM policies WHERE server_id = $1', [serverId]);
    for (const [index, { clients = ['ALL_CLIENTS'], status = 'ACTIVE', rules }] of policies.entries()) {
      const id = randomBytes(8).toString('hex');
      const values = [id, serverId, index, status, clients];
      // The first is the youngest: what orders them is their priority.
      await client.query(
        `INSERT INTO policies (id, server_id, name, priority, status, clients, created, last_updated)
          VALUES ($1, $2, 'Policy ' || $3::integer, $3::integer, $4, $5, now() - $3::integer * interval '1 hour', now())`,
        values,
      );
      for (const [turn, rule] of rules.entries()) {
        await client.query(
          `INSERT INTO policy_rules (id, policy_id, name, priority, status, conditions, actions, created, last_updated)
            VALUES ($1, $2, 'Rule ' || $3::integer, $3::integer, $4, $5, $6, now() - $3::integer * interval '1 hour', now())`,
          [randomBytes(8).toString('hex'), id, turn, rule.status ?? 'ACTIVE', rule.conditions ?? {}, rule.actions ?? {}],
        );
      }
    }
    await client.query('COMMIT');
  });
  const path = `/authorizationServers/${serverId}`;
  assert.equal((await service.api('PUT', path, (await service.api('GET', path)).body)).status, 200);
}
