/** Federated credentials of an application, on its tab Credentials: tokens of other issuers that authenticate it without a secret. */

import type { Content, Part } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { applicationCrumbs, applicationTabs, applicationToChange, mayChangeApplication } from './application-page.console.ts';
import { federatedCredential } from './application-settings.service.ts';
import type { Application } from './applications.resource.ts';
import { adjustApplicationSettings } from './applications.service.ts';
import type { FederatedCredential } from './federated-credentials.policy.ts';
import { readJson } from './setting-group.console.ts';

/** Key of a credential in URLs; credentials have no ID. */
const keyOf = ({ issuer, subject, audience }: FederatedCredential): string =>
  digest(JSON.stringify([issuer, subject, audience])).slice(0, 16);

function keysOf({ jwks, jwks_uri: address }: FederatedCredential): Content {
  if (jwks !== undefined) return { text: 'jwks', code: true };
  return address === undefined ? { text: phrase('By discovery') } : { text: address, code: true };
}

/** @returns undefined if it has none and cannot have any */
export function federatedPart(visit: ConsoleRequest, application: Application): Part | undefined {
  const { federated = [], token_endpoint_auth_method: method } = application.settings;
  if (method === 'none' || application.origin === 'INTRODUCED') return undefined;
  const { href } = applicationTabs(application.id).credentials;
  const changes = mayChangeApplication(visit, application);
  return {
    kind: 'table',
    title: 'Federated credentials',
    lead: 'A Kubernetes service account, a GitHub Actions workflow or a SPIFFE workload authenticates the application with its own token, without a secret.',
    actions: changes ? [{ label: 'Add a federated credential', href: `${href}/federated/new` }] : [],
    name: 'federated credentials',
    columns: ['Issuer', 'Subject', 'Audience', 'Keys'],
    rows: federated.map((credential) => ({
      cells: [
        { text: credential.issuer, code: true },
        { text: credential.subject, code: true },
        { text: credential.audience, code: true },
        keysOf(credential),
      ],
      actions: changes ? [{ label: 'Remove', href: `${href}/federated/${keyOf(credential)}/remove`, danger: true }] : [],
    })),
    empty: 'It trusts no other issuer.',
  };
}

/** Services report the list in errors; here it is a single credential. */
const field = <F extends Field>(given: F): F => ({ ...given, alias: ['credentials.oauthClient.federated', `federated.${given.name}`] });

const FIELDS: readonly Field[] = [
  {
    kind: 'url',
    name: 'issuer',
    label: 'Issuer',
    required: true,
    hint: 'iss of the token, such as https://token.actions.githubusercontent.com.',
  },
  field({
    name: 'subject',
    label: 'Subject',
    required: true,
    hint: 'sub of the token, such as repo:example/app:ref:refs/heads/main or system:serviceaccount:namespace:name. A * at the end, after : or /, stands for any rest.',
  }),
  {
    name: 'audience',
    label: 'Audience',
    required: true,
    hint: 'The only aud of the token. Best: the issuer of your authorization server.',
  },
  {
    kind: 'url',
    name: 'jwks_uri',
    label: 'Address of the issuer’s keys',
    hint: 'If the issuer has no discovery document. https, or http on localhost.',
    advanced: true,
  },
  {
    kind: 'long',
    name: 'jwks',
    label: 'Keys of the issuer',
    rows: 8,
    hint: 'A JSON Web Key Set, {"keys": […]}, of public keys only; for an issuer that this service cannot reach.',
    advanced: true,
  },
];

/** @throws {ApiError} validation */
function credentialIn(form: URLSearchParams): FederatedCredential {
  const entries = Object.entries(typedValues(FIELDS, form)).filter(([, value]) => value !== '');
  const { jwks, ...typed } = Object.fromEntries(entries);
  return parse(federatedCredential, { ...typed, ...(jwks !== undefined && { jwks: readJson(String(jwks)) }) });
}

const add: ConsolePage = {
  path: '/applications/:id/credentials/federated/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const back = applicationTabs(application.id).credentials;
    return formPage(
      {
        title: 'Add a federated credential',
        crumbs: applicationCrumbs(application, back),
        fields: FIELDS,
        submit: 'Add',
        cancel: back.href,
      },
      typed,
    );
  },
  async receive({ services, params, request }, form) {
    const { id = '' } = params;
    const added = credentialIn(form);
    const others = ({ federated = [] }: Application['settings']) => federated.filter((credential) => keyOf(credential) !== keyOf(added));
    await adjustApplicationSettings(services, id, (before) => ({ federated: [...others(before), added] }), request);
    return { goTo: applicationTabs(id).credentials.href, notice: 'federated-credential-added' };
  },
};

const remove: ConsolePage = {
  path: '/applications/:id/credentials/federated/:key/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const back = applicationTabs(application.id).credentials;
    const { key = '' } = visit.params;
    const found = application.settings.federated?.find((credential) => keyOf(credential) === key);
    if (found === undefined) throw notFound(key, 'FederatedCredential');
    return formPage(
      {
        title: 'Remove this federated credential?',
        crumbs: applicationCrumbs(application, back),
        facts: [
          phrase('Tokens of {issuer} for {subject} no longer authenticate the application.', {
            issuer: verbatim(found.issuer),
            subject: verbatim(found.subject),
          }),
        ],
        submit: 'Remove',
        danger: true,
        cancel: back.href,
      },
      typed,
    );
  },
  async receive({ services, params, request }) {
    const { id = '', key = '' } = params;
    const others = ({ federated = [] }: Application['settings']) => federated.filter((credential) => keyOf(credential) !== key);
    await adjustApplicationSettings(services, id, (before) => ({ federated: others(before) }), request);
    return { goTo: applicationTabs(id).credentials.href, notice: 'federated-credential-removed' };
  },
};

export const federatedCredentials: readonly ConsolePage[] = [add, remove];
