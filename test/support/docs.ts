/** Programs and commands of the documentation, so that tests run what people read. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * The blocks of a page in one language, in their order.
 * @param page its path below docs, without `.md`
 * @param language the word after the opening fence
 */
export const codeBlocks = (page: string, language: string): string[] =>
  [...readFileSync(`docs/${page}.md`, 'utf8').matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );

/**
 * A program of a how-to, listening at another port than the page's 8080.
 * @throws when the page has no such block
 */
export function program(page: string, language: string, port: string, index = 0): string {
  const text = codeBlocks(`how-to/${page}`, language)[index];
  if (text === undefined) throw new Error(`docs/how-to/${page}.md has no block ${index} of ${language}`);
  return text.replaceAll('8080', port);
}

/** A command or program that the documentation shows. */
export interface Sample {
  /** Its page's path below docs, without `.md`. */
  readonly page: string;
  readonly language: string;
  readonly text: string;
  /** The section that it is in. */
  readonly says: string;
}

const LANGUAGES = [
  'sh',
  'shell',
  'bash',
  'js',
  'mjs',
  'ts',
  'tsx',
  'python',
  'go',
  'java',
  'csharp',
  'php',
  'ruby',
  'swift',
  'kotlin',
  'dart',
];

/** All commands and programs in these folders of docs. */
export const samplesOf = (...folders: readonly string[]): Sample[] =>
  folders.flatMap((folder) =>
    readdirSync(`docs/${folder}`).flatMap((file) => {
      const sections = readFileSync(`docs/${folder}/${file}`, 'utf8').split(/^(?=#{2,} )/m);
      return sections.flatMap((says) =>
        [...says.matchAll(/^ *```(\S+)\n([\s\S]*?)^ *```/gm)].flatMap(([, language = '', text = '']) =>
          LANGUAGES.includes(language) ? [{ page: `${folder}/${file.replace('.md', '')}`, language, text, says }] : [],
        ),
      );
    }),
  );
