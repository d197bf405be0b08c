/** Algorithms that a server can use for clients, in oidc-provider's configuration. Signatures are limited to those with a key. */
import { ENCRYPTION_ALGS, ENCRYPTION_ENCS } from '../../features/applications/settings/algorithms.policy.ts';
import { algsOf, type SigningChoice } from '../../features/authorization-servers/signing-keys.policy.ts';

const [keys, contents] = [[...ENCRYPTION_ALGS], [...ENCRYPTION_ENCS]];

/** @param choice whose algorithms sign: a key that was retired with its algorithm only verifies */
export function responseAlgs(choice: SigningChoice) {
  const signing = [...algsOf(choice)];
  return {
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
}
