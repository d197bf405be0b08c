/**
 * Authorization server → Protect an API: how an API validates access tokens, with code that runs unchanged and requires a stronger sign-in
 * for some requests.
 */

import type { ConsolePage } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { ACR_VALUES } from '../second-factors/second-factor.policy.ts';
import { apiSnippet } from './api-snippet.ts';
import { issuerOf } from './server-id.policy.ts';
import { pageBelowSettings, serverSubject } from './server-page.console.ts';

const protectApi: ConsolePage = {
  path: '/api/servers/:serverId/protect',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { id, audience, accessTokenFormat, accessTokenType } = subject.server;
    const issuer = issuerOf(visit.services.config.baseUrl, id);
    const isJwt = accessTokenFormat === 'jwt';
    return pageBelowSettings(subject, 'Protect an API', {
      lead: 'The checks that an API makes, and how it asks for a stronger or fresher sign-in (RFC 9470).',
      parts: [
        {
          kind: 'facts',
          title: 'Checks',
          facts: [
            { label: 'Issuer', value: issuer, copy: true },
            ...(isJwt
              ? [
                  { label: 'Audience', value: audience, copy: true },
                  { label: 'Keys', value: `${issuer}/keys`, copy: true },
                  { label: 'Type', value: { text: accessTokenType, code: true } },
                ]
              : [{ label: 'Introspection', value: `${issuer}/introspect`, copy: true }]),
            { label: 'Classes of a sign-in', value: { text: ACR_VALUES.join(' '), code: true } },
          ],
        },
        {
          kind: 'text',
          title: 'Code',
          lead: isJwt
            ? 'For Node.js, with jose. A revoked token is accepted until it expires; ask the introspection endpoint if that is too late.'
            : 'For Node.js. Tokens of this server are opaque: the API is an application with a secret, and asks about each of them.',
          id: 'api-0',
          name: phrase('Content of {file}', { file: 'api.mjs' }),
          text: apiSnippet({ issuer, audience, accessTokenFormat, accessTokenType }),
        },
        {
          kind: 'text',
          title: 'Run it',
          id: 'api-run',
          name: 'how to run it',
          text: isJwt ? 'npm install jose\nnode api.mjs' : 'CLIENT_ID=… CLIENT_SECRET=… node api.mjs',
        },
      ],
    });
  },
};

export const protectApiPages: readonly ConsolePage[] = [protectApi];
