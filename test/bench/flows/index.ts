/** All flows, in the order in which they are measured. */
import type { Flow } from '../flow.ts';
import { clientCredentialsJwt, clientCredentialsOpaque } from './client-credentials.ts';
import { introspect } from './introspect.ts';
import { refresh } from './refresh.ts';
import { userinfo } from './userinfo.ts';

/** What a flow prepares only it reads. */
// biome-ignore lint/suspicious/noExplicitAny: the context's type is each flow's own
export const FLOWS: readonly Flow<any>[] = [clientCredentialsOpaque, clientCredentialsJwt, introspect, userinfo, refresh];
