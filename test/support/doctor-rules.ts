/** The rules of the doctor that its run in the tests sees (test/doctor/doctor.test.ts), and those that it passes by there. */
import { INSTALLATION } from '../../src/doctor/checks/installation.ts';
import { SPECIFICATION } from '../../src/doctor/rules/specification.ts';

export const RULES = [...INSTALLATION, ...SPECIFICATION];

/** Rules that no run sees, for they would take too long or need more than a service, and checks that need the configuration of the service. */
const UNSEEN: ReadonlySet<string> = new Set([
  ...['service.social', 'transitions.expired', 'transitions.code-expired', 'logout.expired-hint'],
  ...['code.server_error', 'code.temporarily_unavailable', 'limits.code'],
  ...INSTALLATION.map(({ id }) => id).filter((id) =>
    /^(applications|database|data|mail|mutual-tls|countries|organizations|passwords)\.|^clock\.database|\.https$|\.administrators-factor$|\.failures-counted$|\.secret-key$/.test(
      id,
    ),
  ),
]);

export const SEEN_RULES: ReadonlySet<string> = new Set(RULES.map(({ id }) => id).filter((id) => !UNSEEN.has(id)));
