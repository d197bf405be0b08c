/** Can applications show their certificates (RFC 8705)? */
import { listApplicationsWithCertificate } from '../../features/applications/application-certificates.store.ts';
import { present } from '../../platform/clock/clock.ts';
import { authorityProblem, readAuthorities } from '../../platform/http/client-certificate.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** The number of applications that are listed by name. */
const MAX_LISTED = 10;

export const mutualTls: readonly Rule<CheckContext>[] = section('Mutual TLS', [
  {
    id: 'mutual-tls.authorities',
    sentence: 'MTLS_CA_FILE contains certificate authorities that are valid now.',
    async run(context) {
      const file = ownConfig(context).mtls?.caFile;
      if (file === undefined) throw new Skipped('MTLS_CA_FILE is not set');
      const authorities = readAuthorities(file);
      must(authorities.length > 0, `${file} contains no certificate: add the PEM certificates of your authorities`);
      const problems = authorities.flatMap((one) => {
        const problem = authorityProblem(one, present());
        return problem === undefined ? [] : [`${one.subject.replaceAll('\n', ', ')} ${problem}`];
      });
      must(
        problems.length === 0,
        `${problems.join('; ')}. Certificates that it issued are refused: add its successor to the file and restart the service`,
      );
      const [first = ''] = authorities.map(({ validTo }) => new Date(validTo).toISOString().slice(0, 10)).sort();
      return `the first expires on ${first}`;
    },
  },
  {
    id: 'mutual-tls.applications',
    sentence: 'If applications authenticate with certificates, the service receives them.',
    async run(context) {
      const { mtls } = ownConfig(context);
      const found = await context
        .database()
        .then(({ knex }) => listApplicationsWithCertificate(knex, MAX_LISTED + 1))
        .catch(() => {
          throw new Skipped('the applications cannot be read from the database');
        });
      if (found.length === 0) throw new Skipped('no application authenticates with a certificate');
      const named = (some: typeof found) =>
        `${some
          .slice(0, MAX_LISTED)
          .map(({ label }) => label)
          .join(', ')}${some.length > MAX_LISTED ? ', and more' : ''}`;
      must(
        mtls !== undefined,
        `these applications are refused: ${named(found)}. Set MTLS_HEADER to the header in which the proxy sends certificates`,
      );
      const byAuthority = found.filter((one) => one.byAuthority);
      must(
        mtls?.caFile !== undefined || byAuthority.length === 0,
        `these applications are refused (tls_client_auth): ${named(byAuthority)}. Set MTLS_CA_FILE to the authorities that issue their certificates`,
      );
    },
  },
]);
