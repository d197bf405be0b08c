/**
 * Cleanup at the end of a run. Each object is registered before it is created, under a unique name, so it is removed even if the response never
 * arrived. The name contains the time, so a later run can remove what a killed run left.
 */
import { randomBytes } from 'node:crypto';
import { jsonOf } from './http-client.ts';
import { type ManagementApi, PAGE } from './management-api.ts';

/** Names of the doctor's objects: a unique part, sometimes with a suffix. */
const NAME = /^doctor-([0-9a-z]{8,9})-[0-9a-f]{12}(-[a-z-]+)?$/;
/** Milliseconds after which no doctor is still running. */
const LONGEST = 2 * 3_600_000;

/** @returns a new, unique name */
export const newName = (): string => `doctor-${Date.now().toString(36)}-${randomBytes(6).toString('hex')}`;

function isLeftOver(name: string): boolean {
  const [, time] = NAME.exec(name) ?? [];
  return time !== undefined && Number.parseInt(time, 36) < Date.now() - LONGEST;
}

interface Removal {
  readonly what: string;
  run(): Promise<boolean>;
}

interface Named {
  readonly id: string;
  readonly profile?: { readonly login: string };
}

export class Removals {
  readonly #removals: Removal[] = [];

  constructor(readonly api: ManagementApi) {}

  noteServer(id: string): void {
    this.#note(`the authorization server ${id}`, `/authorizationServers/${id}`);
  }

  noteApplication(id: string): void {
    this.#note(`the application ${id}`, `/apps/${id}`);
  }

  /** The first removal deactivates, the second deletes. */
  noteUser(login: string): void {
    for (const _ of [1, 2]) this.#note(`the user ${login}`, `/users/${login}`);
  }

  /** With its departments. */
  noteOrganization(name: string): void {
    this.#removals.push({ what: `the organization ${name}`, run: () => this.#removeOrganization(name) });
  }

  /** Registers the leftovers of an earlier doctor that was killed. */
  async noteLeftOvers(): Promise<void> {
    const found = async (path: string, beginning: string) =>
      jsonOf(await this.api.call('GET', `${path}?limit=${PAGE}&q=${encodeURIComponent(beginning)}`)) as unknown as readonly Named[];
    for (const { id } of await found('/authorizationServers', 'doctor-')) if (isLeftOver(id)) this.noteServer(id);
    for (const { profile } of await found('/users', 'doctor-')) if (profile && isLeftOver(profile.login)) this.noteUser(profile.login);
    for (const { id } of await found('/apps', 'Doctor (')) if (isLeftOver(id)) this.noteApplication(id);
    for await (const { name } of this.api.organizations()) if (isLeftOver(name)) this.noteOrganization(name);
  }

  /** Deletes everything in reverse order. @param signal aborts the cleanup @returns a description of what could not be deleted */
  async removeAll(signal: AbortSignal): Promise<string[]> {
    const left: string[] = [];
    for (const { what, run } of this.#removals.splice(0).reverse()) {
      const isGone = !signal.aborted && (await run().catch(() => false));
      if (!isGone && !left.includes(what)) left.push(what);
    }
    return left;
  }

  #note(what: string, path: string): void {
    const run = async () => [200, 204, 404].includes((await this.api.call('DELETE', path)).status);
    this.#removals.push({ what, run });
  }

  async #removeOrganization(name: string): Promise<boolean> {
    for await (const organization of this.api.organizations()) {
      if (organization.name === name) return this.#removeWithDepartments(organization.orgId);
    }
    return true;
  }

  /** Lowest department first: one with subdepartments cannot be deleted. */
  async #removeWithDepartments(orgId: string): Promise<boolean> {
    const path = `/account/org/${orgId}`;
    const { treeStruct } = jsonOf(await this.api.call('GET', `${path}/tree`)) as unknown as { treeStruct: readonly { depId: string }[] };
    for (const { depId } of treeStruct.toReversed()) await this.api.call('DELETE', `${path}/department/${depId}`);
    return (await this.api.call('DELETE', path)).status === 200;
  }
}
