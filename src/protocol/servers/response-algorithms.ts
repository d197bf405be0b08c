/** What a server can sign and encrypt for its clients, as oidc-provider is told. Of the signatures it takes those that the server has keys for. */
import { ENCRYPTION_ALGS, ENCRYPTION_ENCS } from '../../features/applications/response-algorithms.policy.ts';
import { SIGNING_ALGS } from '../../features/authorization-servers/signing-algs.policy.ts';

const [signing, keys, contents] = [[...SIGNING_ALGS], [...ENCRYPTION_ALGS], [...ENCRYPTION_ENCS]];

export const RESPONSE_ALGS = {
  idTokenSigningAlgValues: signing,
  userinfoSigningAlgValues: signing,
  introspectionSigningAlgValues: signing,
  authorizationSigningAlgValues: signing,
  idTokenEncryptionAlgValues: keys,
  userinfoEncryptionAlgValues: keys,
  introspectionEncryptionAlgValues: keys,
  authorizationEncryptionAlgValues: keys,
  idTokenEncryptionEncValues: contents,
  userinfoEncryptionEncValues: contents,
  introspectionEncryptionEncValues: contents,
  authorizationEncryptionEncValues: contents,
  // Request objects are read by authorize/request-object.ts, which decrypts none.
  requestObjectEncryptionAlgValues: [],
  requestObjectEncryptionEncValues: [],
};
