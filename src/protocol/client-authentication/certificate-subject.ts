/** Does a certificate name the subject that an application registered (RFC 8705 section 2.1.2)? One of five ways, compared character by character. */
import type { X509Certificate } from 'node:crypto';
import ipaddr from 'ipaddr.js';

const ALTERNATIVE_NAMES: Readonly<Record<string, string>> = {
  tls_client_auth_san_dns: 'DNS',
  tls_client_auth_san_uri: 'URI',
  tls_client_auth_san_ip: 'IP Address',
  tls_client_auth_san_email: 'email',
};

/** @param property of the client's metadata @param expected its value */
export function namesSubject(certificate: X509Certificate, property: string, expected: string): boolean {
  if (property === 'tls_client_auth_subject_dn') return sameName(certificate.subject, expected);
  const kind = ALTERNATIVE_NAMES[property];
  if (kind === undefined) return false;
  // Node quotes a value that could be taken for several, which then equals nothing.
  const names = (certificate.subjectAltName ?? '').match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  const values = names.map((name) => name.trim()).flatMap((name) => (name.startsWith(`${kind}:`) ? [name.slice(kind.length + 1)] : []));
  if (kind === 'IP Address') return values.some((value) => sameAddress(value, expected));
  const fold = (value: string) => (kind === 'DNS' ? value.toLowerCase() : value);
  return values.some((value) => fold(value) === fold(expected));
}

const sameAddress = (a: string, b: string): boolean =>
  ipaddr.isValid(a) && ipaddr.isValid(b) && ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();

/** @param subject as Node writes it: a line for each part, the most general first @param expected RFC 4514: commas between the parts, the most general last */
function sameName(subject: string, expected: string): boolean {
  const parts = (expected.match(/(?:[^,\\]|\\.)+/g) ?? []).map(normal).reverse();
  return parts.join('\n') === subject.split('\n').map(normal).join('\n');
}

/** Types of attributes have no case; spaces around the parts do not count. */
function normal(part: string): string {
  const [, type = '', value = ''] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
  return `${type.toUpperCase()}=${value}`;
}
