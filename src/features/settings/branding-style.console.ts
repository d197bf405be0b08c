/** Settings → Branding → Style: the custom properties of the pages' stylesheet, for light and dark. */

import { type Content, detailPage, type Fact, type Part } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, Typed } from '../../pages/console/page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { SCHEME_COLOURS, type Scheme } from './brand-colours.policy.ts';
import { type BrandCss, CSS_COLOUR_NAMES, CSS_COLOURS, CSS_FONTS, CSS_VERSION, type CssFont, MOST_RADIUS } from './brand-css.policy.ts';
import { CRUMBS, HOME, mayWrite, SETTINGS, TABS } from './branding-preview.console.ts';
import { type Branding, readSettings, replaceSettings } from './settings.service.ts';
import { settingsBodies } from './settings-fields.service.ts';

const STYLE = `${HOME}/style`;
const SCHEMES: readonly (readonly [Scheme, string])[] = [
  ['light', 'Light'],
  ['dark', 'Dark'],
];
const FONTS: Readonly<Record<CssFont, string>> = { SYSTEM: 'System', SERIF: 'Serif', HUMANIST: 'Humanist', GEOMETRIC: 'Geometric' };

const colourContent = (scheme: Scheme, name: (typeof CSS_COLOUR_NAMES)[number], css: BrandCss | null): Content => {
  const own = css?.[scheme]?.[name];
  return own === undefined ? { text: verbatim(SCHEME_COLOURS[scheme][name]), soft: true } : { text: own, code: true };
};

const show: ConsolePage = {
  path: '/settings/branding/style',
  access: 'service',
  async show(visit) {
    const { css } = await readSettings(visit.services, 'branding');
    const facts: readonly Fact[] = [
      { label: 'Corners', value: css?.radius === undefined ? phrase('Default') : phrase('{count} pixels', { count: css.radius }) },
      { label: 'Font', value: phrase(css?.font === undefined ? 'Default' : FONTS[css.font]) },
    ];
    const colours: Part = {
      kind: 'table',
      name: 'colours',
      title: 'Colours',
      columns: ['Colour', 'Property', 'Light', 'Dark'],
      rows: CSS_COLOUR_NAMES.map((name) => ({
        cells: [
          phrase(CSS_COLOURS[name]),
          { text: `--${name}`, code: true },
          colourContent('light', name, css),
          colourContent('dark', name, css),
        ],
      })),
      empty: '',
    };
    return detailPage({
      title: 'Branding',
      lead: 'Colours, corners and font of the sign-in pages.',
      crumbs: SETTINGS,
      tabs: TABS,
      actions: [
        { label: 'Preview', href: `${HOME}/preview` },
        ...(mayWrite(visit) ? [{ label: 'Edit', href: `${STYLE}/edit`, main: true }] : []),
      ],
      parts: [{ kind: 'facts', facts }, colours],
    });
  },
};

function fieldsOf(css: BrandCss | null): readonly Field[] {
  const colours = SCHEMES.flatMap(([scheme, group]) =>
    CSS_COLOUR_NAMES.map(
      (name): Field => ({
        name: `${scheme}-${name}`,
        alias: `css.${scheme}.${name}`,
        label: phrase(scheme === 'light' ? '{name} (light)' : '{name} (dark)', { name: phrase(CSS_COLOURS[name]) }),
        kind: 'colour',
        group,
        value: css?.[scheme]?.[name] ?? '',
        hint: phrase('Empty: {value}.', { value: SCHEME_COLOURS[scheme][name] }),
      }),
    ),
  );
  const fonts = (Object.keys(CSS_FONTS) as CssFont[]).map((value) => ({ value, label: FONTS[value] }));
  return [
    {
      ...{ name: 'radius', alias: 'css.radius', label: 'Corners (pixels)', kind: 'number' },
      value: css?.radius === undefined ? '' : String(css.radius),
      hint: phrase('0 to {most}. Empty: 10.', { most: MOST_RADIUS }),
    },
    { name: 'font', alias: 'css.font', label: 'Font', value: css?.font ?? '', options: [{ value: '', label: 'Default' }, ...fonts] },
    ...colours,
  ];
}

/** The branding with the submitted values; an empty style is none. @throws {ApiError} validation */
function brandingIn(held: Branding, form: URLSearchParams): Branding {
  const typed = typedValues(fieldsOf(null), form);
  const colours = SCHEMES.map(([scheme]) => {
    const set = CSS_COLOUR_NAMES.map((name) => [name, typed[`${scheme}-${name}`]]).filter(([, colour]) => colour !== '');
    return [scheme, Object.fromEntries(set)] as const;
  }).filter(([, set]) => Object.keys(set).length > 0);
  const { radius, font } = typed;
  const set = { ...Object.fromEntries(colours), ...(radius !== undefined && { radius }), ...(font !== '' && { font }) };
  const css = Object.keys(set).length === 0 ? null : { version: CSS_VERSION, ...set };
  return { ...held, ...parse(settingsBodies.branding, { ...held, css }) };
}

const editPage = (css: BrandCss | null, typed: Typed) =>
  formPage(
    {
      title: 'Edit the style',
      crumbs: [...CRUMBS, { label: 'Style', href: STYLE }],
      facts: ['Each colour must be readable on the colours around it (WCAG 2.2: 4.5:1 for text, 3:1 for edges). Others are refused.'],
      fields: fieldsOf(css),
      submit: 'Save',
      cancel: STYLE,
    },
    typed,
  );

const edit: ConsolePage = {
  path: '/settings/branding/style/edit',
  access: 'service',
  verb: 'write',
  show: async ({ services }, typed) => editPage((await readSettings(services, 'branding')).css, typed),
  async receive({ services, request }, form) {
    const branding = brandingIn(await readSettings(services, 'branding'), form);
    await replaceSettings(services, 'branding', branding, request);
    return { goTo: STYLE, notice: 'style-changed' };
  },
};

export const stylePages: readonly ConsolePage[] = [show, edit];
