import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  checkContrast,
  colourProblem,
  completeColours,
  contrastRatio,
  isColour,
  isReadable,
  nearestReadable,
  paletteOf,
  relativeLuminance,
  SCHEME_COLOURS,
  type Scheme,
  writeRatio,
} from '../../../src/features/settings/brand-colours.policy.ts';

const SCHEMES: readonly Scheme[] = ['light', 'dark'];
/** 512 colours all over the cube. */
const LEVELS = [0, 36, 73, 109, 146, 182, 219, 255].map((level) => level.toString(16).padStart(2, '0'));
const COLOURS = LEVELS.flatMap((r) => LEVELS.flatMap((g) => LEVELS.map((b) => `#${r}${g}${b}`)));

const stylesheet = (name: string): string => readFileSync(new URL(`../../../../views/public/${name}`, import.meta.url), 'utf8');
const valuesIn = (rule: string): Map<string, string> =>
  new Map([...rule.matchAll(/--([\w-]+): (#[0-9a-f]{3,6});/g)].map(([, name = '', value = '']) => [name, long(value)]));
const long = (value: string): string => (value.length === 4 ? `#${[...value.slice(1)].map((digit) => digit + digit).join('')}` : value);

test('contrast is that of WCAG 2.2, "contrast ratio", by examples known elsewhere', () => {
  const known: readonly (readonly [string, string, string])[] = [
    ['#000000', '#ffffff', '21.00:1'],
    ['#ffffff', '#ffffff', '1.00:1'],
    // The lightest grey that is text on white, and the next one, which is none.
    ['#767676', '#ffffff', '4.54:1'],
    ['#777777', '#ffffff', '4.47:1'],
    ['#949494', '#ffffff', '3.03:1'],
    ['#ff0000', '#ffffff', '3.99:1'],
    ['#0000ff', '#ffffff', '8.59:1'],
    ['#ffff00', '#000000', '19.55:1'],
  ];
  for (const [one, other, ratio] of known) {
    assert.equal(writeRatio(contrastRatio(one, other)), ratio, `${one} on ${other}`);
    assert.equal(contrastRatio(one, other), contrastRatio(other, one), 'whichever is in front');
  }
  assert.equal(relativeLuminance('#000000'), 0);
  assert.ok(Math.abs(relativeLuminance('#FFFFFF') - 1) < 1e-9);
});

test('a ratio is never told as more than it is: 4.499 does not pass, and does not read as if it did', () => {
  assert.equal(writeRatio(4.499), '4.49:1');
  assert.equal(writeRatio(3), '3.00:1');
});

test('the surroundings are the colours of the stylesheets, and their own colour passes (WCAG 2.2, 1.4.3 and 1.4.11)', () => {
  const [light = '', dark = ''] = stylesheet('gatehouse.css').match(/:root \{[^}]*\}/g) ?? [];
  const previews = stylesheet('branding.css');
  for (const [scheme, rule] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    const values = valuesIn(rule);
    const { card, ground, tint, accent, on } = SCHEME_COLOURS[scheme];
    assert.deepEqual(
      [card, ground, tint, accent, on],
      ['card', 'ground', 'tint', 'accent', 'on-accent'].map((name) => values.get(name)),
      scheme,
    );
    for (const [name, value] of valuesIn(new RegExp(`\\.preview-${scheme} \\{[^}]*\\}`).exec(previews)?.[0] ?? '')) {
      assert.equal(value, values.get(name), `--${name} of the preview, ${scheme}`);
    }
    assert.ok(isReadable(scheme, accent));
  }
});

test('a colour passes where every check does: text by 4.5, edges by 3', () => {
  for (const scheme of SCHEMES) {
    for (const colour of COLOURS) {
      const checks = checkContrast(scheme, colour);
      const passes = checks.every(({ ratio, needed }) => ratio >= needed);
      assert.equal(isReadable(scheme, colour), passes);
      assert.equal(colourProblem(scheme, colour) === undefined, passes, colour);
      assert.deepEqual(new Set(checks.map(({ criterion, needed }) => `${criterion} ${needed}`)), new Set(['1.4.3 4.5', '1.4.11 3']));
    }
  }
});

test('the nearest colour that passes is the colour itself where it does, and else the first on the way to black or white', () => {
  for (const scheme of SCHEMES) {
    for (const colour of COLOURS) {
      const nearest = nearestReadable(scheme, colour);
      assert.ok(isColour(nearest) && isReadable(scheme, nearest), `${scheme} ${colour} ${nearest}`);
      if (isReadable(scheme, colour)) assert.equal(nearest, colour);
    }
  }
  assert.equal(nearestReadable('light', '#ff0000'), '#db0000');
  assert.match(
    colourProblem('light', '#FF0000') ?? '',
    /^is hard to read in light: links in notices would have a contrast of 3\.51:1, but 4\.5:1 is required \(WCAG 2\.2, 1\.4\.3\)\. The nearest readable colour is #db0000$/,
  );
});

test('of one colour both are made; of none, none', () => {
  assert.equal(completeColours(null, null), undefined);
  assert.equal(completeColours(undefined), undefined);
  for (const colour of COLOURS.filter((one) => isReadable('light', one))) {
    const both = completeColours(colour);
    assert.equal(both?.light, colour);
    assert.ok(both !== undefined && isReadable('dark', both.dark), colour);
  }
  assert.deepEqual(completeColours('#0f5c5c', '#ffcc00'), { light: '#0f5c5c', dark: '#ffcc00' });
  assert.deepEqual(completeColours(null, '#ffcc00'), { light: SCHEME_COLOURS.light.accent, dark: '#ffcc00' });
});

test('what is written on a button is read under the pointer, too', () => {
  for (const scheme of SCHEMES) {
    for (const colour of COLOURS.filter((one) => isReadable(scheme, one))) {
      const { accent, accentStrong, onAccent } = paletteOf(scheme, colour);
      assert.ok(contrastRatio(accentStrong, onAccent) >= contrastRatio(accent, onAccent), `${scheme} ${colour}`);
    }
  }
});

test('only #rrggbb is a colour: nothing else can come into a stylesheet', () => {
  for (const colour of ['#0f5c5c', '#ABCDEF']) assert.ok(isColour(colour));
  for (const other of ['', 'red', '#fff', '#0f5c5cff', '#0f5c5c;', '#0f5c5c\n', 'rgb(0,0,0)', ' #0f5c5c', '#0g5c5c', '#0f5c5c}body{']) {
    assert.ok(!isColour(other), other);
  }
});
