import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inPreOrder } from '../../../src/features/organizations/department-tree.policy.ts';

/** `child<parent`, in the order of their creation. */
const tree = (...edges: string[]) =>
  edges.map((edge) => {
    const [id = '', parentId = null] = edge.split('<');
    return { id, parentId };
  });
const order = (...edges: string[]) => inPreOrder(tree(...edges)).map(({ id }) => id);

describe('the order of departments ("Department node")', () => {
  const cases: [what: string, edges: string[], expected: string][] = [
    ['none', [], ''],
    ['top level alone, as created', ['c', 'a', 'b'], 'c a b'],
    ['each before those below it', ['a', 'b', 'a1<a', 'b1<b', 'a2<a', 'a11<a1'], 'a a1 a11 a2 b b1'],
    ['a parent younger than its children', ['a1<a', 'a2<a', 'a'], 'a a1 a2'],
    ['a department moved below a younger sibling', ['a<b', 'b', 'c'], 'b a c'],
  ];
  for (const [what, edges, expected] of cases) {
    it(what, () => assert.equal(order(...edges).join(' '), expected));
  }

  it('no depth is too great: a line of 100,000', () => {
    const line = Array.from({ length: 100_000 }, (_, at) => ({ id: `d${at}`, parentId: at === 0 ? null : `d${at - 1}` }));
    assert.deepEqual(inPreOrder(line.toReversed()), line);
  });

  it('no breadth is too great: 200,000 below one', () => {
    const top = { id: 'top', parentId: null };
    const below = Array.from({ length: 200_000 }, (_, at) => ({ id: `d${at}`, parentId: 'top' }));
    assert.deepEqual(inPreOrder([...below, top]), [top, ...below]);
  });
});
