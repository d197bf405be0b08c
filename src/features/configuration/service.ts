/** The management API for the configuration command: one service, one token, JSON responses, and the service's own refusals. */
import { StartFailure } from '../../cli/lifecycle.ts';

export interface Service {
  get(path: string): Promise<ApiResponse>;
  /** @returns all items of a list, read page by page */
  list(path: string): Promise<ApiResponse[]>;
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<ApiResponse>;
}

export type ApiResponse = Readonly<Record<string, unknown>>;

/** The service refused the request. */
export class ApiRefusal extends StartFailure {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Maximum page size of the API. */
const PAGE = 200;

/**
 * @param url of the service
 * @param token of an administrator of the whole service
 */
export function serviceAt(url: string, token: string): Service {
  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `SSWS ${token}`, accept: 'application/json', 'content-type': 'application/json' };
    const request = { method, headers, redirect: 'error' as const, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(new URL(`/api/v1${path}`, url), request).catch((error: Error) => {
      throw new StartFailure(`${url} cannot be reached: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    if (!response.ok) throw new ApiRefusal(response.status, `${method} ${path}: ${await reasonOf(response)}`);
    return response;
  }
  const contentOf = async (response: Response): Promise<ApiResponse> =>
    response.status === 204 ? {} : ((await response.json()) as ApiResponse);

  return {
    get: async (path) => contentOf(await call('GET', path)),
    send: async (method, path, body) => contentOf(await call(method, path, body)),
    async list(path) {
      const items: ApiResponse[] = [];
      let next: string | undefined = `${path}?limit=${PAGE}`;
      while (next !== undefined) {
        const response: Response = await call('GET', next);
        items.push(...((await response.json()) as ApiResponse[]));
        const after = /[?&]after=([^&>]+)[^>]*>; *rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
        next = after === undefined ? undefined : `${path}?limit=${PAGE}&after=${after}`;
      }
      return items;
    },
  };
}

interface ErrorObject {
  readonly errorSummary?: string;
  readonly errorCauses?: readonly { readonly errorSummary: string }[];
}

async function reasonOf(response: Response): Promise<string> {
  const { errorSummary, errorCauses = [] } = (await response.json().catch(() => ({}))) as ErrorObject;
  const causes = errorCauses.map((cause) => cause.errorSummary);
  return causes.length > 0 ? causes.join('; ') : (errorSummary ?? `the answer was ${response.status}`);
}
