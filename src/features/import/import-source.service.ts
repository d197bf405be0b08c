/** Reads the records of a file piece by piece: one JSON value per line, or the elements of one JSON array. */
import { StringDecoder } from 'node:string_decoder';

/** A record as it is in the file. */
export interface SourceRecord {
  /** First line of the item; lines start at 1. */
  readonly line: number;
  /** null: longer than the maximum. */
  readonly text: string | null;
}

/** Maximum characters of a record. */
const LONGEST_RECORD = 1024 * 1024;
/** Maximum bytes of a file that is read as a whole. */
const LARGEST_DOCUMENT = 256 * 1024 * 1024;

/** The file as a whole is invalid and cannot be read further. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
}

/** @returns the text in pieces, without a leading byte order mark */
async function* textOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let begun = false;
  for await (const chunk of source) {
    const text = decoder.write(chunk);
    if (text !== '') yield begun ? text : text.replace(/^\uFEFF/, '');
    begun ||= text !== '';
  }
  yield decoder.end();
}

/** The non-empty lines, or the elements of an array if the file starts with one. @throws {UnreadableSource} */
export async function* recordsOf(source: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord> {
  const lines = new LineSplitter();
  let splitter: LineSplitter | ElementSplitter = lines;
  let begun = false;
  for await (const text of textOf(source)) {
    if (!begun && text.trim() !== '') {
      begun = true;
      if (text.trimStart().startsWith('[')) splitter = new ElementSplitter(lines.line);
    }
    yield* splitter.split(text);
  }
  yield* splitter.end();
}

/** Collects the pieces of a record, up to the maximum length. */
class HeldRecord {
  #text = '';
  #isTooLong = false;

  add(part: string): void {
    this.#isTooLong ||= this.#text.length + part.length > LONGEST_RECORD;
    this.#text = this.#isTooLong ? '' : this.#text + part;
  }

  /** @returns the current record unless it is empty; then starts the next one */
  take(line: number): SourceRecord[] {
    const text = this.#isTooLong ? null : this.#text.trim();
    this.#text = '';
    this.#isTooLong = false;
    return text === '' ? [] : [{ line, text }];
  }
}

class LineSplitter {
  line = 1;
  readonly #held = new HeldRecord();

  *split(text: string): Generator<SourceRecord> {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#held.add(text.slice(from, end));
      yield* this.#held.take(this.line);
      this.line += 1;
      from = end + 1;
    }
    this.#held.add(text.slice(from));
  }

  end(): SourceRecord[] {
    return this.#held.take(this.line);
  }
}

/** Tracks brackets and strings; the contents are validated when elements are parsed. */
class ElementSplitter {
  readonly #held = new HeldRecord();
  #line: number;
  /** Line where the element starts; 0: not started. */
  #begun = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;

  constructor(line: number) {
    this.#line = line;
  }

  *split(text: string): Generator<SourceRecord> {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at] as string;
      if (character === '\n') this.#line += 1;
      if (this.#isOver) this.#refuseMore(character);
      else if (this.#isInString) this.#followString(character);
      else if (this.#follow(character)) {
        this.#held.add(text.slice(from, at));
        yield* this.#held.take(this.#begun);
        this.#begun = 0;
        from = at + 1;
      } else if (this.#depth === 0) from = at + 1;
      else if (this.#depth === 1 && character === '[' && this.#begun === 0) from = at + 1;
    }
    if (!this.#isOver) this.#held.add(text.slice(from));
  }

  end(): SourceRecord[] {
    if (!this.#isOver) throw new UnreadableSource(`Line ${this.#line}: the file ends before its array does.`);
    return [];
  }

  /** @returns true at the end of an element */
  #follow(character: string): boolean {
    const isInside = this.#depth > 0;
    if (character === '[' || character === '{') this.#depth += 1;
    else if (character === ']' || character === '}') this.#depth -= 1;
    else if (character === '"') this.#isInString = true;
    this.#isOver = this.#depth === 0 && isInside;
    if (this.#isOver || (this.#depth === 1 && character === ',')) return true;
    if (isInside && this.#begun === 0 && character.trim() !== '') this.#begun = this.#line;
    return false;
  }

  #followString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') this.#isInString = false;
  }

  #refuseMore(character: string): void {
    if (character.trim() !== '') throw new UnreadableSource(`Line ${this.#line}: something follows the end of the array.`);
  }
}

/** Reads the whole file as one JSON value. @throws {UnreadableSource} it is too large or not JSON */
export async function documentOf(source: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > LARGEST_DOCUMENT)
      throw new UnreadableSource(`The file has more than ${LARGEST_DOCUMENT / 1024 / 1024} MiB. Export the users in several files.`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.includes('\uFFFD')) throw new UnreadableSource('The file is not UTF-8.');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UnreadableSource(`The file is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
