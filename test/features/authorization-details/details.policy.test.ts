import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailSchemaProblem, mismatchIn } from '../../../src/features/authorization-details/detail-schema.service.ts';
import { covers, decideDetails } from '../../../src/features/authorization-details/details.policy.ts';
import { shownDetail } from '../../../src/features/authorization-details/shown-details.policy.ts';
import { keyOfDetail } from '../../../src/features/consents/consents.resource.ts';

const words = { lang: 'en', yes: 'yes', no: 'no' };

test('a detail covers itself and what leaves out entries of the common lists, nothing else', () => {
  const granted = { type: 'files', actions: ['read', 'write'], folder: { id: 7, name: 'a' } };
  assert.ok(covers(granted, { folder: { name: 'a', id: 7 }, actions: ['write'], type: 'files' }));
  for (const asked of [
    { ...granted, actions: ['read', 'delete'] },
    { ...granted, actions: [] },
    { ...granted, folder: { id: 7 } },
    { ...granted, more: true },
    { type: 'files', folder: granted.folder },
    { type: 'files', actions: ['read'], folder: granted.folder, hasOwnProperty: 1 },
    { ...granted, type: 'mails' },
  ])
    assert.equal(covers(granted, asked), false, JSON.stringify(asked));
  assert.equal(
    covers({ type: 'a', ids: ['1', '2'] }, { type: 'a', ids: ['1'] }),
    false,
    'a list that is not among the common ones is one value',
  );
});

test('of what was granted, what can still be granted stays; a wish must be covered by one of it', () => {
  const types = new Map([['a', { name: 'a', mismatch: () => undefined }]]);
  const facts = { granted: [{ type: 'a', n: 1 }, { type: 'gone' }], types, allowed: ['a', 'gone'] };
  assert.deepEqual(decideDetails({ ...facts, requested: [] }), { details: [{ type: 'a', n: 1 }] });
  assert.deepEqual(decideDetails({ ...facts, requested: [], allowed: [] }), { details: [] });
  assert.deepEqual(decideDetails({ ...facts, requested: [{ type: 'a', n: 2 }] }), { problem: 'asks for more than was granted', index: 0 });
  assert.deepEqual(decideDetails({ ...facts, granted: undefined, requested: [{ type: 'a', n: 2 }] }), { details: [{ type: 'a', n: 2 }] });
});

test('the order of members changes nothing about what a consent is known by, and no scope is called like it', () => {
  const one = { type: 'a', b: { c: 1, d: [1, 2] } };
  assert.equal(keyOfDetail(one), keyOfDetail({ b: { d: [1, 2], c: 1 }, type: 'a' }));
  assert.notEqual(keyOfDetail(one), keyOfDetail({ type: 'a', b: { c: 1, d: [2, 1] } }));
  assert.match(keyOfDetail(one), / /);
});

test('a pattern that would take for ever elsewhere is matched in no time', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  assert.equal(detailSchemaProblem(schema), undefined);
  const began = performance.now();
  assert.match(mismatchIn(schema)({ type: 't', a: `${'a'.repeat(5000)}!` }) ?? '', /must match pattern/);
  assert.ok(performance.now() - began < 1000);
});

test('a sentence has the values of its fields apart, missing ones as a dash; without a template all fields are listed', () => {
  const detail = { type: 'pay', amount: { value: 1234.5, currency: 'EUR' }, instant: true, tags: ['a', 'b'], dueDate: null };
  const type = {
    displayName: 'Payment',
    template: 'Pay {amount.value} {amount.currency} to {creditor}, now: {instant}',
    translations: { de: { template: '{amount.value} zahlen' } },
    schema: { properties: { tags: { title: 'Labels' } } },
  };
  const shown = shownDetail(detail, type, words);
  assert.equal(shown.sentence?.map(({ text }) => text).join(''), 'Pay 1,234.5 EUR to –, now: yes');
  assert.deepEqual(
    shown.sentence?.filter(({ isValue }) => isValue).map(({ text }) => text),
    ['1,234.5', 'EUR', '–', 'yes'],
  );
  assert.deepEqual(shown.fields, [
    { label: 'Amount: Value', value: '1,234.5' },
    { label: 'Amount: Currency', value: 'EUR' },
    { label: 'Instant', value: 'yes' },
    { label: 'Labels', value: 'a and b' },
    { label: 'Due date', value: '–' },
  ]);
  assert.equal(
    shownDetail(detail, type, { ...words, lang: 'de' })
      .sentence?.map(({ text }) => text)
      .join(''),
    '1.234,5 zahlen',
  );
  const chinese = shownDetail(detail, undefined, { ...words, lang: 'zh-Hans' }).fields;
  assert.equal(chinese.find(({ label }) => label === 'Tags')?.value, 'a和b');
  assert.equal(
    shownDetail(detail, { ...type, template: '', translations: {} }, words).sentence,
    undefined,
    'without a template there is no sentence',
  );
  assert.deepEqual(shownDetail({ type: 'gone' }, undefined, words), { title: 'gone', sentence: undefined, fields: [] });
});
