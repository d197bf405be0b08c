/** Ory Hydra, built from its Go module. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mustRun, runProgram } from './setting.ts';

export const HYDRA_VERSION = '2.3.0';
const MODULE = 'github.com/ory/hydra/v2';
/** As Hydra's own go.mod of this version has it; Go reads only that of the main module. */
const REPLACE = 'github.com/gobuffalo/pop/v6 => github.com/ory/pop/v6 v6.2.1-0.20241121111754-e5dfc0f3344b';

/** @param folder gets it @returns the program; undefined: Go or the module is not to be had here */
export async function hydraProgram(folder: string): Promise<string | undefined> {
  writeFileSync(path.join(folder, 'go.mod'), `module peer\n\nreplace ${REPLACE}\n`);
  const { code } = await runProgram(folder, {}, 'go', 'get', '-tool', `${MODULE}@v${HYDRA_VERSION}`);
  if (code !== 0) return undefined;
  const program = path.join(folder, 'hydra');
  await mustRun(folder, {}, 'go', 'build', '-o', program, MODULE);
  return program;
}
