/** The doctor's client of the management API, with one token. Only a timeout aborts a call, so that created objects are known. */

import { HttpClient, jsonOf, type Reply } from './http-client.ts';
import { Blocked } from './rule.ts';
import type { SecretRedactor } from './secret-redactor.ts';

export interface ApiClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly secrets: SecretRedactor;
}

interface OrganizationPage {
  readonly organizations: readonly { readonly orgId: string; readonly name: string }[];
}

/** Maximum page size of the API. */
export const PAGE = 200;

export class ManagementApi {
  constructor(readonly options: ApiClientOptions) {
    options.secrets.add(options.token);
  }

  /** @param wire records the call, if it is the subject of a rule @param token absent: the doctor's @throws {Broken} no response */
  call(method: string, path: string, body?: unknown, wire: HttpClient = this.#ownWire(), token = this.options.token): Promise<Reply> {
    const accepts = { authorization: `SSWS ${token}`, accept: 'application/json' };
    const init =
      body === undefined
        ? { method, headers: accepts }
        : { method, headers: { ...accepts, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return wire.send(`${this.options.baseUrl}/api/v1${path}`, init);
  }

  /** @returns the created object @throws {Blocked} it was refused */
  async make(path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
    const reply = await this.call('POST', path, body);
    if (reply.status === 200 || reply.status === 201) return jsonOf(reply);
    const { errorSummary, errorCauses = [] } = jsonOf(reply) as { errorSummary?: string; errorCauses?: { errorSummary?: string }[] };
    const why = [errorSummary, ...errorCauses.map((cause) => cause.errorSummary)].filter((words) => words !== undefined).join('; ');
    throw new Blocked(`POST /api/v1${path.split('?')[0]} answered ${reply.status}: ${why}`);
  }

  /** All organizations, page by page. */
  async *organizations(): AsyncGenerator<{ readonly orgId: string; readonly name: string }> {
    for (let page = 1; ; page += 1) {
      const { organizations } = jsonOf(await this.call('GET', `/account/org?page=${page}&limit=${PAGE}`)) as unknown as OrganizationPage;
      yield* organizations;
      if (organizations.length < PAGE) return;
    }
  }

  #ownWire(): HttpClient {
    return new HttpClient({ secrets: this.options.secrets });
  }
}
