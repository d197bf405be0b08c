/** `settings/mail-templates` and `settings/texts`: the texts of e-mails and pages in each language. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { text as boundedText } from '../../platform/validation/text.ts';
import { testMailResponse } from '../mail/mail-settings.api.ts';
import { anyTemplateBody } from './mail-template.resource.ts';
import {
  getMailTemplate,
  listMailTemplates,
  previewMailTemplate,
  replaceMailTemplate,
  resetMailTemplate,
  testMailTemplate,
} from './mail-templates.service.ts';
import { pageTextBody } from './text-keys.resource.ts';
import { getPageText, listPageTexts, resetPageText, setPageText } from './texts.service.ts';

const template = z.object({
  id: z.string(),
  kind: z.string().meta({ description: 'For example invitation, password-reset or new-sign-in' }),
  language: z.string().meta({ description: 'en, zh-Hans, de or es' }),
  subject: z.string(),
  heading: z.string(),
  introduction: z.string(),
  button: z.string().optional(),
  closing: z.string(),
  customized: z.boolean().meta({ description: 'Is any part not the original?' }),
  variables: z.array(z.string()).readonly().meta({ description: 'Written {name}; `link` only in introduction and closing' }),
  requiredVariables: z.array(z.string()).readonly().meta({ description: 'The introduction must contain them' }),
});

const text = z.object({
  id: z.string(),
  language: z.string(),
  key: z.string(),
  page: z.string(),
  text: z.string(),
  default: z.string(),
  customized: z.boolean(),
  variables: z.array(z.string()).readonly(),
  requiredVariables: z.array(z.string()).readonly(),
});

/** One page of a list that is in memory. */
function pieceOf<T>(all: readonly T[], { limit, after = 0 }: Window): Page<T> {
  const items = all.slice(after, after + limit);
  return { items, next: after + items.length < all.length ? after + items.length : undefined };
}

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')
  .optional();
const TEMPLATE = '/settings/mail-templates/:kind/:language';
const TEXT = '/settings/texts/:language/:key';
const ofTemplate = z.object({ kind: z.string(), language: z.string() });
const ofText = z.object({ language: z.string(), key: z.string() });

export const textEndpoints: readonly Endpoint[] = [
  listing({
    path: '/settings/mail-templates',
    access: 'service',
    summary: 'List e-mail templates by kind and language',
    query: { customized: flag },
    item: template,
    handler: async ({ services, query }) => {
      const all = await listMailTemplates(services);
      return pieceOf(
        all.filter(({ customized }) => query.customized === undefined || query.customized === customized),
        query,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: TEMPLATE,
    access: 'service',
    summary: 'Read an e-mail template',
    params: ofTemplate,
    response: template,
    handler: ({ services, params: { kind, language } }) => getMailTemplate(services, kind, language),
  }),
  endpoint({
    method: 'PUT',
    path: TEMPLATE,
    access: 'service',
    summary: 'Replace an e-mail template; what is absent returns to the original',
    params: ofTemplate,
    body: anyTemplateBody,
    response: template,
    handler: ({ services, params: { kind, language }, body, request }) => replaceMailTemplate(services, kind, language, body, request),
  }),
  endpoint({
    method: 'DELETE',
    path: TEMPLATE,
    access: 'service',
    summary: 'Return an e-mail template to the original',
    params: ofTemplate,
    handler: ({ services, params: { kind, language }, request }) => resetMailTemplate(services, kind, language, request),
  }),
  endpoint({
    method: 'POST',
    path: `${TEMPLATE}/preview`,
    access: 'service',
    summary: 'Show an e-mail with example values; nothing is stored',
    params: ofTemplate,
    body: anyTemplateBody,
    response: z.object({ subject: z.string(), text: z.string(), html: z.string(), language: z.string() }),
    handler: ({ services, params: { kind, language }, body }) => previewMailTemplate(services, kind, language, body),
  }),
  endpoint({
    method: 'POST',
    path: `${TEMPLATE}/test`,
    access: 'service',
    summary: 'Send an e-mail with example values to the caller’s own address',
    params: ofTemplate,
    response: testMailResponse,
    handler: ({ services, params: { kind, language }, request }) => testMailTemplate(services, kind, language, undefined, request),
  }),
  listing({
    path: '/settings/texts',
    access: 'service',
    summary: 'List the texts of pages that can be changed',
    query: {
      language: boundedText({ most: 35 }).optional().meta({ description: 'en, zh-Hans, de or es' }),
      q: boundedText({ most: 200 }).optional().meta({ description: 'Words of the key, the text or the page' }),
      customized: flag,
    },
    item: text,
    handler: async ({ services, query }) => pieceOf(await listPageTexts(services, query), query),
  }),
  endpoint({
    method: 'GET',
    path: TEXT,
    access: 'service',
    summary: 'Read a text of a page',
    params: ofText,
    response: text,
    handler: ({ services, params: { language, key } }) => getPageText(services, language, key),
  }),
  endpoint({
    method: 'PUT',
    path: TEXT,
    access: 'service',
    summary: 'Change a text of a page',
    params: ofText,
    body: pageTextBody(undefined),
    readBefore: text.omit({ text: true }),
    response: text,
    handler: ({ services, params: { language, key }, body, request }) => setPageText(services, language, key, body, request),
  }),
  endpoint({
    method: 'DELETE',
    path: TEXT,
    access: 'service',
    summary: 'Return a text of a page to the original',
    params: ofText,
    handler: ({ services, params: { language, key }, request }) => resetPageText(services, language, key, request),
  }),
];
