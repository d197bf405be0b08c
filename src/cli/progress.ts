/** Progress of an import: a bar on a terminal, otherwise a line every few seconds. Written to standard error, apart from the result. */
import { MultiBar } from 'cli-progress';
import type { ImportCounts } from '../features/import/imports.service.ts';
import { type Output, print } from './command.ts';

export interface ProgressBar {
  /** @param bytes of the file that are done */
  update(counts: Pick<ImportCounts, 'imported' | 'refused'>, bytes: number): void;
  /** Prints a line without disturbing the bar. */
  say(line: string): void;
  stop(): void;
}

const EVERY = 5000;

/** @param size of the file in bytes; 0 where it is not known, as of a pipe */
export const showProgress = (output: Output, size: number): ProgressBar =>
  output.isTTY === true ? onTerminal(output as NodeJS.WriteStream, size) : inLines(output, size);

function onTerminal(stream: NodeJS.WriteStream, size: number): ProgressBar {
  const bars = new MultiBar({
    stream,
    format: '{bar} {percentage} % | {imported} imported, {refused} refused | {duration_formatted}, {eta_formatted} to go',
    gracefulExit: false,
    hideCursor: true,
  });
  const bar = bars.create(size, 0, { imported: 0, refused: 0 });
  return {
    update: ({ imported, refused }, bytes) => bar.update(bytes, { imported, refused }),
    say: (line) => bars.log(`${line}\n`),
    stop() {
      // Print lines that were logged since the last redraw.
      bars.update();
      bars.stop();
    },
  };
}

function inLines(output: Output, size: number): ProgressBar {
  let latest = '';
  const say = (line: string) => print(output, line);
  const timer = setInterval(() => latest !== '' && say(latest), EVERY);
  return {
    update({ imported, refused }, bytes) {
      const share = size === 0 ? '' : ` (${Math.floor((100 * bytes) / size)} %)`;
      latest = `${imported} imported, ${refused} refused${share}`;
    },
    say,
    stop: () => clearInterval(timer),
  };
}
