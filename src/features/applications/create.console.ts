/** Applications → Create: first the kind, then the few required fields; everything else gets secure defaults. A secret is shown once. */

import { z } from 'zod';
import { type Field, formPage, readFields, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest, Drawn } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { asPhrase, phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { APPLICATION_KINDS, APPLICATIONS, APPLICATIONS_PATH, applicationPath } from './application-page.console.ts';
import type { ApplicationType, GivenSettings } from './application-settings.policy.ts';
import { applicationLabel, clientFields } from './application-settings.service.ts';
import { createApplication } from './applications.service.ts';
import { newSecretPage } from './secret-page.console.ts';
import { setting } from './setting-group.console.ts';
import { accessFields } from './settings/sign-in.console.ts';

const CREATE = `${APPLICATIONS_PATH}/new`;
const kinds = z.enum(['web', 'browser', 'native', 'service']);

const choose: ConsolePage = {
  path: '/applications/new',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    const fields: readonly Field[] = [
      { kind: 'radios', name: 'kind', label: 'What kind of application is it?', options: APPLICATION_KINDS, value: 'web' },
    ];
    return formPage({ title: 'Create application', crumbs: APPLICATIONS, fields, submit: 'Continue', cancel: APPLICATIONS_PATH }, typed);
  },
  async receive(_visit, form) {
    return { goTo: `${CREATE}/${readFields(z.object({ kind: kinds }), form).kind}` };
  },
};

const NAME: Field = { name: 'label', label: 'Name', hint: 'Shown to users when they sign in.', required: true };

const RETURNS: Readonly<Record<Exclude<ApplicationType, 'service'>, string>> = {
  web: 'The browser returns to one of these addresses after the sign-in. One per line, exactly as the application sends it; https, or http on localhost.',
  browser:
    'Pages of the application that the browser comes back to after the sign-in, one per line. https, or http on localhost. Their origins may call the token endpoint.',
  native:
    'One per line: http on 127.0.0.1 or localhost, a scheme of its own (com.example.app:/callback), or an https address that it has claimed.',
};

const INTROSPECTS: Field = setting({
  kind: 'check',
  name: 'introspect_any',
  label: 'Can introspect other applications’ tokens',
  hint: 'For APIs that check their callers’ access tokens at the introspection endpoint. Leave it off otherwise.',
});

const PKCE: Field = setting({
  kind: 'check',
  name: 'pkce_required',
  label: 'PKCE is required',
  checked: true,
  hint: 'Requests without a code_challenge are refused. Most libraries send one; untick it for a library that does not.',
});

/** The required fields for this kind of application. */
function fieldsFor(kind: ApplicationType): readonly Field[] {
  if (kind === 'service') return [NAME, INTROSPECTS];
  return [
    NAME,
    setting({ kind: 'lines', name: 'redirect_uris', label: 'Redirect URIs', hint: RETURNS[kind], required: true }),
    setting({
      kind: 'lines',
      name: 'post_logout_redirect_uris',
      label: 'Post-logout redirect URIs',
      hint: 'The browser may return to these addresses after users sign out. One per line; may be empty.',
      rows: 2,
    }),
    ...accessFields({ assignment: 'EVERYONE', consent_method: 'TRUSTED' }),
    {
      kind: 'check',
      name: 'refresh',
      label: 'Allow refresh tokens',
      hint: 'The application gets new access tokens without the user, when it requests the scope offline_access. Each refresh token works once.',
    },
    // Without a secret, PKCE is required anyway, and the client cannot introspect.
    ...(kind === 'web' ? [PKCE, INTROSPECTS] : []),
  ];
}

const wanted = z.object({
  label: applicationLabel,
  redirect_uris: z.array(z.string()).min(1).pipe(clientFields.redirect_uris.unwrap()),
  post_logout_redirect_uris: clientFields.post_logout_redirect_uris,
  assignment: clientFields.assignment,
  consent_method: clientFields.consent_method,
  refresh: z.boolean(),
  pkce_required: z.boolean().default(true),
  introspect_any: z.boolean().default(false),
});
const wantedService = z.object({ label: applicationLabel, introspect_any: z.boolean() });

/** Secure defaults for new applications. */
function settingsFor(kind: ApplicationType, values: unknown): { readonly label: string; readonly settings: GivenSettings } {
  if (kind === 'service') {
    const { label, introspect_any } = parse(wantedService, values);
    return { label, settings: { application_type: kind, grant_types: ['client_credentials'], introspect_any } };
  }
  const { label, refresh, ...addresses } = parse(wanted, values);
  const settings: GivenSettings = {
    ...addresses,
    application_type: kind,
    grant_types: refresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'],
    response_types: ['code'],
  };
  return { label, settings };
}

/** Result of the form, stored for repeated submissions. */
interface CreatedApplication {
  readonly id: string;
  readonly secret: string | null;
}

const kindIn = ({ params }: ConsoleRequest): ApplicationType => {
  const found = kinds.safeParse(params.kind);
  if (!found.success) throw notFound(params.kind ?? '', 'ApplicationKind');
  return found.data;
};

const create: ConsolePage = {
  path: '/applications/new/:kind',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const kind = kindIn(visit);
    const { label, hint = '' } = APPLICATION_KINDS.find(({ value }) => value === kind) ?? APPLICATION_KINDS[0] ?? { label: '' };
    const crumbs = [...APPLICATIONS, { label: 'Create application', href: CREATE }];
    const hidden = formKey();
    return formPage(
      {
        title: phrase('Create: {kind}', { kind: asPhrase(label) }),
        lead: hint,
        crumbs,
        fields: fieldsFor(kind),
        hidden,
        submit: 'Create application',
        cancel: APPLICATIONS_PATH,
      },
      typed,
    );
  },
  async receive(visit, form): Promise<Drawn | { goTo: string; notice: 'application-created' }> {
    const kind = kindIn(visit);
    const input = settingsFor(kind, typedValues(fieldsFor(kind), form));
    const { id, secret } = await submitOnce(visit, form, [CREATE, input], async (services): Promise<CreatedApplication> => {
      const { application, secret: made } = await createApplication(services, input, visit.request);
      return { id: application.id, secret: made ?? null };
    });
    if (secret === null) return { goTo: applicationPath(id), notice: 'application-created' };
    return newSecretPage({
      title: 'Application created',
      application: { id, label: input.label },
      secret,
      next: applicationPath(id),
      crumbs: APPLICATIONS,
    });
  },
};

export const creation: readonly ConsolePage[] = [choose, create];
