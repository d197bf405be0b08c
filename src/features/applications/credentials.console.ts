/** An application's credentials: client authentication and secrets, of which there can be two during a rotation. */

import { type Content, detailPage, type Part } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { phrase, type Text } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from './application-page.console.ts';
import {
  createSecret,
  deleteSecret,
  getSecret,
  listApplicationSecrets,
  listSecretEndings,
  setSecretStatus,
} from './application-secrets.service.ts';
import { clientUsesSecret } from './application-settings.policy.ts';
import type { Application, SecretFacts, SecretStatus } from './applications.resource.ts';
import { federatedPart } from './federated.console.ts';
import { newSecretPage } from './secret-page.console.ts';
import { settingParts } from './settings.console.ts';

const MOST_SECRETS = 2;

/** Short label that distinguishes secrets. */
const nameOf = (ending = ''): string => `…${ending}`;

function secretStatusPiece({ id, status }: SecretFacts, secrets: readonly SecretFacts[]): Content {
  if (status === 'INACTIVE') return { text: 'Inactive', tone: 'warning' };
  const isNewest = secrets.findLast((one) => one.status === 'ACTIVE')?.id === id;
  return [{ text: 'Active', tone: 'good' }, ...(isNewest && secrets.length > 1 ? [{ text: 'the newest', soft: true }] : [])];
}

async function secretsPart(visit: ConsoleRequest, application: Application): Promise<Part> {
  const secrets = await listApplicationSecrets(visit.services, application.id);
  const endings = await listSecretEndings(visit.services, application.id);
  const { href } = applicationTabs(application.id).credentials;
  const changes = mayChangeApplication(visit, application);
  const active = secrets.filter(({ status }) => status === 'ACTIVE').length;
  const actionsOf = ({ id, status }: SecretFacts) => [
    ...(status === 'INACTIVE' ? [{ label: 'Activate', href: `${href}/${id}/activate` }] : []),
    ...(status === 'ACTIVE' && active > 1 ? [{ label: 'Deactivate', href: `${href}/${id}/deactivate` }] : []),
    ...(status === 'INACTIVE' || active > 1 ? [{ label: 'Remove', href: `${href}/${id}/remove`, danger: true }] : []),
  ];
  return {
    kind: 'table',
    title: 'Secrets',
    lead: 'To change the secret without an outage: add a second one, give it to the application, deactivate the first, and remove it once everything works. Both are accepted until then. JWTs are signed with the newest active one.',
    buttons:
      changes && secrets.length < MOST_SECRETS
        ? [{ label: 'Add a secret', icon: 'add', action: `${href}/new`, name: 'key', value: formKey().key }]
        : [],
    name: 'secrets',
    columns: ['Ends with', 'Status', 'Created', 'Last used', 'ID'],
    rows: secrets.map((secret) => ({
      cells: [
        { text: nameOf(endings.get(secret.id)), code: true },
        secretStatusPiece(secret, secrets),
        { moment: momentOf(secret.created) },
        { moment: momentOrNull(secret.lastUsed) },
        { text: secret.id, code: true },
      ],
      actions: changes ? actionsOf(secret) : [],
    })),
    empty: 'It has no secret.',
  };
}

const list: ConsolePage = {
  path: '/applications/:id/credentials',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    return detailPage({
      ...headOf(visit, application),
      parts: [
        ...warningsOf(application),
        { kind: 'facts', facts: [{ label: 'Client ID', value: application.id, copy: true }] },
        ...(await settingParts(visit, application, 'credentials')),
        ...(clientUsesSecret(application.settings) ? [await secretsPart(visit, application)] : []),
        ...[federatedPart(visit, application) ?? []].flat(),
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
    const facts = ['The new secret is shown once, on the next page. The current one stays valid until you remove it.'];
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
    return newSecretPage({ title: 'Secret added', application, secret, next: back.href, crumbs: applicationCrumbs(application, back) });
  },
};

interface Step {
  readonly path: 'activate' | 'deactivate' | 'remove';
  /** Verb of the page title and its button. */
  readonly verb: 'Activate' | 'Deactivate' | 'Remove';
  readonly danger: boolean;
  facts(secret: { readonly secret: string; readonly created: Date }): readonly Text[];
  readonly notice: PageNotice;
  readonly reverse?: Step['path'];
  execute(visit: ConsoleRequest, applicationId: string, secretId: string): Promise<unknown>;
}

const step = ({ path, verb, danger, facts, notice, reverse, execute }: Step): ConsolePage => ({
  path: `/applications/:id/credentials/:secretId/${path}`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { id, created } = await getSecret(visit.services, application.id, visit.params.secretId ?? '');
    const name = nameOf((await listSecretEndings(visit.services, application.id)).get(id));
    const back = applicationTabs(application.id).credentials;
    return formPage(
      {
        title: `${verb} this secret?`,
        crumbs: applicationCrumbs(application, back),
        facts: facts({ secret: name, created }),
        submit: `${verb} secret`,
        danger,
        cancel: back.href,
      },
      typed,
    );
  },
  async receive(visit) {
    const { id = '', secretId = '' } = visit.params;
    await execute(visit, id, secretId);
    const back = applicationTabs(id).credentials.href;
    const undo = reverse && { href: `${back}/${encodeURIComponent(secretId)}/${reverse}` };
    return { goTo: back, notice, undo };
  },
});

const setTo = (status: SecretStatus) => (visit: ConsoleRequest, applicationId: string, secretId: string) =>
  setSecretStatus(visit.services, applicationId, secretId, status, visit.request);

const steps: readonly ConsolePage[] = [
  step({
    path: 'activate',
    verb: 'Activate',
    danger: false,
    facts: (secret) => [phrase('The secret {secret} of {created} is accepted again from the next request on.', secret)],
    notice: 'application-secret-activated',
    reverse: 'deactivate',
    execute: setTo('ACTIVE'),
  }),
  step({
    path: 'deactivate',
    verb: 'Deactivate',
    danger: true,
    facts: (secret) => [
      phrase(
        'The secret {secret} of {created} is refused from the next request on. Make sure that the application uses another one.',
        secret,
      ),
      'You can activate it again.',
    ],
    notice: 'application-secret-deactivated',
    reverse: 'activate',
    execute: setTo('INACTIVE'),
  }),
  step({
    path: 'remove',
    verb: 'Remove',
    danger: true,
    facts: (secret) => [
      phrase(
        'The secret {secret} of {created} is refused from the next request on. Make sure that the application uses another one.',
        secret,
      ),
      'This cannot be undone.',
    ],
    notice: 'application-secret-removed',
    execute: ({ services, request }, applicationId, secretId) => deleteSecret(services, applicationId, secretId, request),
  }),
];

export const credentials: readonly ConsolePage[] = [list, add, ...steps];
