/** Prints the management API's OpenAPI document: `npm run openapi`. Needs neither configuration nor database. */
import { ENDPOINTS } from '../api/index.ts';
import { describeApi } from '../api/openapi.ts';

process.stdout.write(`${JSON.stringify(describeApi(ENDPOINTS), null, 2)}\n`);
