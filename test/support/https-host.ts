/** A host of documents by https, on this machine. The certificate is its own: the test process accepts any while a trusted host listens. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { TestContext } from 'node:test';
import { afterwards } from './afterwards.ts';

/** Made for these tests, of `localhost` and `127.0.0.1`; it opens nothing else. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglbw8Ce1qff2nFnx7
e3UtMACNjeymcn1EzqU8lxLDpLChRANCAARbGU8T+jF2A550dDFjFfskvFejgZs6
zpwwqsmDbx7mB2BK3YaPSHu1AEBPXlh9nRuIm7id3XkwS0CFJVZ4Ao5g
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUFMlvLL22H9Hm/sQFMzRmQwsikKwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNDA5MzY1MVoYDzIxMjYxMDMx
MDkzNjUxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARbGU8T+jF2A550dDFjFfskvFejgZs6zpwwqsmDbx7mB2BK3YaPSHu1
AEBPXlh9nRuIm7id3XkwS0CFJVZ4Ao5go28wbTAdBgNVHQ4EFgQUzkZJn0C5/ny+
u6xBQQjxQyWcYfQwHwYDVR0jBBgwFoAUzkZJn0C5/ny+u6xBQQjxQyWcYfQwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAJDTGe3Z7P/iFGvjNAdsDwyXIpY/rkGiQaMOVfp6IIEWAiEA
red3zRZWl64hHvasXm3jbz6i9ajGQ8owxje0v3sV0N8=
-----END CERTIFICATE-----`;

let listening = 0;

/** Listens until the test ends. @returns its origin */
export async function listenSecurely(t: TestContext, listener: RequestListener, { isTrusted = true } = {}): Promise<string> {
  if (isTrusted) {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    listening += 1;
  }
  const server = createServer({ key: KEY, cert: CERTIFICATE }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => {
    server.close();
    server.closeAllConnections();
    if (isTrusted) listening -= 1;
    // Other files run in the same process.
    if (listening === 0) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return `https://localhost:${address.port}`;
}

export interface HostedDocument {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A host whose documents a test can change; it counts how often each was asked for. */
export async function documentHost(t: TestContext) {
  const documents = new Map<string, HostedDocument>();
  const asked = new Map<string, number>();
  const origin = await listenSecurely(t, (req, res) => {
    const path = req.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const { status = 200, headers = {}, body = '' } = documents.get(path) ?? { status: 404 };
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  return {
    origin,
    /** How often the path was asked for. */
    asked: (path: string): number => asked.get(path) ?? 0,
    /** Publishes the metadata of a client. @returns its client ID */
    publish(path: string, metadata: Record<string, unknown> = {}, document: HostedDocument = {}): string {
      const id = `${origin}${path}`;
      const body = JSON.stringify({ client_id: id, client_name: 'Agent', redirect_uris: ['https://app.example/callback'], ...metadata });
      documents.set(path, { body, ...document });
      return id;
    },
  };
}
