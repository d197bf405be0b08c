/** An application's credentials: by what it proves itself, and its secrets, of which it may have two while it changes from one to the other. */

import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from './application-page.console.ts';
import { createSecret, deleteSecret, getSecret, listApplicationSecrets } from './application-secrets.service.ts';
import { clientUsesSecret } from './application-settings.policy.ts';
import type { Application, SecretFacts } from './applications.resource.ts';
import { secretTold } from './secret-page.console.ts';
import { partsOf } from './settings.console.ts';

const MOST_SECRETS = 2;

function secretsPart(visit: ConsoleRequest, application: Application, secrets: readonly SecretFacts[]): Part {
  const { href } = applicationTabs(application.id).credentials;
  const changes = mayChangeApplication(visit, application);
  return {
    kind: 'table',
    title: 'Secrets',
    lead: 'To change the secret without an outage: add a second one, give it to the application, remove the first. Both are accepted meanwhile. Where JWTs are signed with it, only the newest counts.',
    actions: changes && secrets.length < MOST_SECRETS ? [{ label: 'Add a secret', href: `${href}/new`, main: true }] : [],
    name: 'secrets',
    columns: ['Secret', 'Created', 'Status'],
    rows: secrets.map(({ id, created }, at) => ({
      cells: [{ text: id, code: true }, { moment: momentOf(created) }, { text: at === secrets.length - 1 ? 'Valid, the newest' : 'Valid' }],
      actions: changes && secrets.length > 1 ? [{ label: 'Remove', href: `${href}/${id}/remove` }] : [],
    })),
    empty: 'It has no secret.',
  };
}

const list: ConsolePage = {
  path: '/applications/:id/credentials',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const secrets = await listApplicationSecrets(visit.services, application.id);
    return detailPage({
      ...headOf(visit, application),
      parts: [
        ...warningsOf(application),
        { kind: 'facts', facts: [{ label: 'Client id', value: application.id, copy: true }] },
        ...(await partsOf(visit, application, 'credentials')),
        ...(clientUsesSecret(application.settings) ? [secretsPart(visit, application, secrets)] : []),
      ],
    });
  },
};

const add: ConsolePage = {
  path: '/applications/:id/credentials/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const back = applicationTabs(application.id).credentials;
    const facts = ['The new secret is shown once, on the next page. The present one stays valid until you remove it.'];
    const hidden = formKey();
    return formPage(
      { title: 'Add a secret', crumbs: applicationCrumbs(application, back), facts, hidden, submit: 'Add a secret', cancel: back.href },
      typed,
    );
  },
  async receive(visit, form) {
    const application = await applicationToChange(visit);
    const { id } = application;
    const secret = await submitOnce(
      visit,
      form,
      [id, 'secret'],
      async (services) => (await createSecret(services, id, undefined, visit.request)).value,
    );
    const back = applicationTabs(id).credentials;
    return secretTold({ title: 'Secret added', application, secret, next: back.href, crumbs: applicationCrumbs(application, back) });
  },
};

const remove: ConsolePage = {
  path: '/applications/:id/credentials/:secretId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const secret = await getSecret(visit.services, application.id, visit.params.secretId ?? '');
    const back = applicationTabs(application.id).credentials;
    const facts = [
      `The secret of ${momentOf(secret.created).text} is refused from the next request on. Make sure that the application uses another one.`,
      'This cannot be undone.',
    ];
    return formPage(
      {
        title: 'Remove this secret?',
        crumbs: applicationCrumbs(application, back),
        facts,
        submit: 'Remove secret',
        danger: true,
        cancel: back.href,
      },
      typed,
    );
  },
  async receive({ services, params, request }) {
    const { id = '', secretId = '' } = params;
    await deleteSecret(services, id, secretId, request);
    return { goTo: applicationTabs(id).credentials.href, notice: 'application-secret-removed' };
  },
};

export const credentials: readonly ConsolePage[] = [list, add, remove];
