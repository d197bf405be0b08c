/** All flows, in the order in which they are measured. */
import type { Flow } from '../flow.ts';
import { clientCredentialsJwt, clientCredentialsOpaque } from './client-credentials.ts';
import { introspectHinted, introspectUnhinted } from './introspect.ts';
import { organizationDetail, organizationList } from './organizations.ts';
import { refresh } from './refresh.ts';
import { passwordSignIn, signInAgain } from './sign-in.ts';
import { silent } from './silent.ts';
import { userinfo } from './userinfo.ts';

/** What a flow prepares only it reads. */
// biome-ignore lint/suspicious/noExplicitAny: the context's type is each flow's own
export const FLOWS: readonly Flow<any>[] = [
  clientCredentialsOpaque,
  clientCredentialsJwt,
  introspectHinted,
  introspectUnhinted,
  userinfo,
  refresh,
  silent,
  passwordSignIn,
  signInAgain,
  organizationList,
  organizationDetail,
];

/** @throws when there is none of this name */
// biome-ignore lint/suspicious/noExplicitAny: the context's type is each flow's own
export function flowNamed(name: string): Flow<any> {
  const found = FLOWS.find((flow) => flow.name === name);
  if (found === undefined) throw new Error(`there is no flow ${name}`);
  return found;
}
