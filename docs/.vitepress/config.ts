/** The documentation as a site: `npm run docs` builds it into dist/docs, and the service serves it at /docs. */
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const root = new URL('..', import.meta.url);

/** A page's first heading is its title in the menu. */
function section(text: string, folder: string, collapsed = true) {
  const files = readdirSync(new URL(`${folder}/`, root))
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort();
  const items = files.map((name) => {
    const [, title = name] = /^# (.*)$/m.exec(readFileSync(new URL(`${folder}/${name}`, root), 'utf8')) ?? [];
    return { text: title, link: `/${folder}/${name.replace('.md', '')}` };
  });
  // The pages about frameworks are many, and have an index of their own.
  const isConnect = ({ link }: { link: string }) => /\/connect-(?!a-framework)/.test(link);
  const connect = items.filter(isConnect);
  const rest = items.filter((item) => !isConnect(item));
  return { text, collapsed, items: connect.length === 0 ? rest : [...rest, { text: 'Connect', collapsed: true, items: connect }] };
}

export default defineConfig({
  title: 'Gatehouse',
  description: 'An identity service: OpenID Connect and OAuth 2.0 on PostgreSQL',
  lang: 'en',
  base: '/docs/',
  outDir: '../dist/docs',
  cacheDir: '../dist/docs-cache',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      section('Tutorials', 'tutorials', false),
      section('How to', 'how-to', false),
      section('Reference', 'reference', false),
      section('Explanation', 'explanation', false),
      { text: 'Glossary', link: '/glossary' },
      { text: 'Tests', link: '/testing' },
      section('Performance', 'performance'),
      section('Decisions', 'decisions'),
      section('Specification', 'specification'),
    ],
  },
});
