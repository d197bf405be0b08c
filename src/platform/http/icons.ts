/** The icons of the pages: outlines of the package heroicons, read once at start and inlined as SVG, so that pages load no further files. */
import { readFileSync } from 'node:fs';

/** File in the package, by purpose. */
const FILES = {
  activate: 'play',
  add: 'plus',
  application: 'squares-2x2',
  attribute: 'tag',
  branding: 'swatch',
  bulk: 'queue-list',
  copy: 'square-2-stack',
  dashboard: 'home',
  deactivate: 'no-symbol',
  documentation: 'book-open',
  download: 'arrow-down-tray',
  edit: 'pencil-square',
  eventHook: 'bolt',
  explain: 'light-bulb',
  filter: 'funnel',
  group: 'user-group',
  help: 'question-mark-circle',
  identityProvider: 'identification',
  inlineHook: 'puzzle-piece',
  language: 'language',
  log: 'document-text',
  mail: 'envelope',
  member: 'user-plus',
  menu: 'bars-3',
  more: 'chevron-down',
  move: 'arrows-up-down',
  open: 'chevron-right',
  organization: 'building-office',
  password: 'lock-closed',
  pause: 'pause',
  playground: 'beaker',
  policy: 'shield-check',
  preview: 'eye',
  remove: 'trash',
  reset: 'arrow-path',
  role: 'shield-exclamation',
  search: 'magnifying-glass',
  secret: 'key',
  send: 'paper-airplane',
  server: 'server-stack',
  session: 'clock',
  signal: 'signal',
  telephony: 'phone',
  zone: 'globe-alt',
  signOut: 'arrow-right-start-on-rectangle',
  takeOut: 'user-minus',
  unlock: 'lock-open',
  upload: 'arrow-up-tray',
  user: 'users',
  person: 'user-circle',
  verify: 'check-badge',
} as const;

export type IconName = keyof typeof FILES;

const DIRECTORY = new URL('24/outline/', import.meta.resolve('heroicons/package.json'));

/** The style sheet sets the size. */
const drawing = (name: string, file: string): string =>
  readFileSync(new URL(`${file}.svg`, DIRECTORY), 'utf8')
    .replace(/\s*data-slot="icon"/, '')
    .replace('<svg ', `<svg class="icon icon-${name}" `)
    .trim();

const DRAWINGS = new Map<string, string>(Object.entries(FILES).map(([name, file]) => [name, drawing(name, file)]));

/**
 * @param name of an icon
 * @returns its SVG, hidden from screen readers, because a text beside it says the same
 * @throws if there is no such icon
 */
export function icon(name: string): string {
  const svg = DRAWINGS.get(name);
  if (svg === undefined) throw new Error(`there is no icon ${name}`);
  return svg;
}
