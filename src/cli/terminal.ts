/** Input and output of the commands. It imports nothing, so that `--help` loads no database and no logging. */

/** Input and output of a command. */
export interface Terminal {
  /** The arguments after the program's name. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY'>;
  /** For the result. */
  readonly stdout: Output;
  /** For progress and mistakes. */
  readonly stderr: Output;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Writes one line. */
export const print = (output: Output, line: string): void => void output.write(`${line}\n`);
