/** "GET {oauth_base}/authorize", the response_mode rules: where the response parameters are. */

import { CALLBACK } from '../fixtures.ts';
import { must, mustEqual, mustMatch, type Rule } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

const standsIn = (mode: 'fragment' | 'query') => async (visit: RuleContext) => {
  const { place, fields, reply } = await visit.authorize({ response_mode: mode });
  mustEqual(place, mode, 'the place of the answer');
  must(fields.code !== undefined, 'the response must have a code');
  must(
    (mode === 'query' ? reply.location?.hash : reply.location?.search) === '',
    'the parameters must be in either the query or the fragment',
  );
};

export const responseModes: readonly Omit<Rule<RuleContext>, 'section'>[] = [
  {
    id: 'response-mode.fragment',
    sentence: '`fragment`: parameters are encoded in the URL fragment of redirect_uri.',
    run: standsIn('fragment'),
  },
  { id: 'response-mode.query', sentence: '`query`: parameters are encoded in the query string of redirect_uri.', run: standsIn('query') },
  {
    id: 'response-mode.form_post',
    sentence:
      '`form_post`: parameters are sent as form values (`application/x-www-form-urlencoded`) by an HTTP POST that an auto-submitting HTML form performs to redirect_uri.',
    async run(visit) {
      const { place, fields, reply } = await visit.authorize({ response_mode: 'form_post' });
      mustEqual(place, 'form_post', 'the place of the answer');
      mustMatch(reply.text, new RegExp(`<form[^>]* method="post" action="${CALLBACK}"`), 'the page');
      must(/<script/.test(reply.text), 'the form must submit itself');
      must(fields.code !== undefined, 'the form must contain the code');
    },
  },
];
