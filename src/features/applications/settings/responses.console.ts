/** Response settings: signing and encryption (OpenID Connect Core section 10, RFC 9701, JARM). */
import type { Option } from '../../../pages/console/form.ts';
import { verbatim } from '../../../platform/i18n/phrase.ts';
import { SIGNING_ALGS } from '../../authorization-servers/signing-keys.policy.ts';
import { labelled, type SettingGroup, setting } from '../setting-group.console.ts';
import {
  ENCRYPTION_ALGS,
  ENCRYPTION_ENCS,
  encryptedAlg,
  encryptedEnc,
  RESPONSE_KINDS,
  type ResponseKind,
  signedAlg,
} from './algorithms.policy.ts';

const named = (values: readonly string[]): readonly Option[] => values.map((value) => ({ value, label: verbatim(value) }));
const SERVERS: Option = { value: '', label: 'As the authorization server' };
const ALGS: readonly Option[] = [SERVERS, ...named(SIGNING_ALGS)];
const USERINFO_ALGS: readonly Option[] = [{ value: '', label: 'Not signed' }, ...named(SIGNING_ALGS)];
const KEY_ALGS: readonly Option[] = [{ value: '', label: 'Not encrypted' }, ...named(ENCRYPTION_ALGS)];
const ENCS: readonly Option[] = [{ value: '', label: 'Default (A128CBC-HS256)' }, ...named(ENCRYPTION_ENCS)];

interface Words {
  readonly group: string;
  readonly signed: string;
  readonly signedHint: string;
  readonly encrypted: string;
  readonly content: string;
  readonly algs: readonly Option[];
}

const WORDS: Readonly<Record<ResponseKind, Words>> = {
  id_token: {
    group: 'ID token',
    signed: 'ID token signing',
    signedHint: 'Also for logout tokens. If the server has no key for it, its own algorithm is used.',
    encrypted: 'ID token encryption',
    content: 'ID token content encryption',
    algs: ALGS,
  },
  userinfo: {
    group: 'Userinfo',
    signed: 'Userinfo signing',
    signedHint: 'Signed responses are JWTs. The application’s library must expect them.',
    encrypted: 'Userinfo encryption',
    content: 'Userinfo content encryption',
    algs: USERINFO_ALGS,
  },
  introspection: {
    group: 'Introspection',
    signed: 'Introspection signing',
    signedHint: 'For APIs that ask for the response as a JWT, with Accept: application/token-introspection+jwt.',
    encrypted: 'Introspection encryption',
    content: 'Introspection content encryption',
    algs: ALGS,
  },
  authorization: {
    group: 'Authorization response',
    signed: 'Authorization response signing',
    signedHint: 'For applications that ask for the response as a JWT (JARM, response_mode=jwt).',
    encrypted: 'Authorization response encryption',
    content: 'Authorization response content encryption',
    algs: ALGS,
  },
};

export const responseSettings: SettingGroup = {
  id: 'responses',
  title: 'Signed and encrypted responses',
  lead: 'Encryption needs a key of the application with use enc, under Credentials or at the address of its keys.',
  tab: 'settings',
  fields: ({ settings }) =>
    RESPONSE_KINDS.flatMap((kind) => {
      const { group, signed, signedHint, encrypted, content, algs } = WORDS[kind];
      const [sign, encrypt, enc] = [signedAlg(kind), encryptedAlg(kind), encryptedEnc(kind)];
      return [
        setting({ name: sign, label: signed, options: algs, value: settings[sign] ?? '', hint: signedHint, group }),
        setting({ name: encrypt, label: encrypted, options: KEY_ALGS, value: settings[encrypt] ?? '', group }),
        setting({ name: enc, label: content, options: ENCS, value: settings[enc] ?? '', when: { field: encrypt }, group }),
      ];
    }),
  facts: ({ settings }) =>
    RESPONSE_KINDS.flatMap((kind) => {
      const { signed, encrypted, content, algs } = WORDS[kind];
      const [sign, encrypt, enc] = [settings[signedAlg(kind)], settings[encryptedAlg(kind)], settings[encryptedEnc(kind)]];
      return [
        { label: signed, value: labelled(algs, sign ?? '') },
        { label: encrypted, value: labelled(KEY_ALGS, encrypt ?? '') },
        ...(encrypt === undefined ? [] : [{ label: content, value: labelled(ENCS, enc ?? '') }]),
      ];
    }),
};
