/** Programs and commands of the documentation, so that tests run what people read. */
import { readFileSync } from 'node:fs';

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
