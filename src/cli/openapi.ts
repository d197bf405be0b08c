/** Prints the OpenAPI document of the management API. Needs neither configuration nor database. */
import { ENDPOINTS } from '../api/index.ts';
import { describeApi } from '../api/openapi.ts';
import { command } from './command.ts';
import { print } from './terminal.ts';

export const openapi = command(1, async ({ stdout }) => {
  print(stdout, JSON.stringify(describeApi(ENDPOINTS), null, 2));
  return 0;
});
