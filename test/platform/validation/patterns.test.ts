/** Problems of regular expressions in plain words, which have translations; those of re2js have none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { regularExpressionProblem } from '../../../src/platform/validation/patterns.ts';

const PROBLEMS = {
  '(': 'a closing parenthesis is missing',
  'a)': 'a closing parenthesis has no opening one',
  '[a': 'a closing bracket is missing',
  '[z-a]': 'a range or class of characters is invalid',
  '\\1': 'an escape sequence is not supported',
  '(?=x)': 'a kind of group is not supported',
  '(?P<n': 'the name of a group is invalid',
  '(?P<a>x)(?P<a>y)': 'the name of a group occurs twice',
  'a**': 'a repetition is repeated',
  '*a': 'a repetition has nothing to repeat',
  'a{1001}': 'a number of repetitions is not allowed',
  'a\\': 'nothing follows a backslash',
};

test('a problem of a regular expression is in plain words, with the part of the expression', () => {
  for (const [expression, problem] of Object.entries(PROBLEMS)) {
    const found = regularExpressionProblem(expression) ?? '';
    const [, , said = '', part = ''] = found.split(': ').length === 3 ? ['', ...found.split(': ')] : [];
    assert.equal(said, problem, `${expression}: ${found}`);
    assert.ok(expression.includes(part) && part !== '', `${expression}: ${part}`);
  }
  assert.match(regularExpressionProblem('(((a{1000}){1000}){1000})') ?? '', /^is too large|a number of repetitions is not allowed/);
  assert.equal(regularExpressionProblem('^M[0-9]+$'), undefined);
});
