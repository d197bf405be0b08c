/** Shows a secret of an application once. */

import { detailPage } from '../../pages/console/detail-page.ts';
import type { Crumb, Drawn } from '../../pages/console/page.ts';

interface NewSecret {
  readonly title: string;
  readonly application: { readonly id: string; readonly label: string };
  readonly secret: string;
  /** Next page. */
  readonly next: string;
  readonly crumbs: readonly Crumb[];
}

export const newSecretPage = ({ title, application, secret, next, crumbs }: NewSecret): Drawn =>
  detailPage({
    title,
    lead: 'Copy the secret now. It is shown only once.',
    crumbs,
    actions: [{ label: 'Done, I have copied it', href: next, main: true }],
    parts: [
      {
        kind: 'facts',
        facts: [
          { label: 'Application', value: application.label },
          { label: 'Client ID', value: application.id, copy: true },
          { label: 'Client secret', value: secret, copy: true },
        ],
      },
      {
        kind: 'words',
        paragraphs: [
          'Keep it in the application’s environment or in a vault, never in its source. Anyone who has it can act as the application.',
          'If you lose it, create another one under Credentials.',
        ],
      },
    ],
  });
