/** What is asked of a password, as a hint beside its field: whoever sets one may have no page that tells it. */

import type { ConsoleRequest } from '../../pages/console/page.ts';
import { readSettings } from '../settings/settings.service.ts';

export async function passwordRules({ services }: ConsoleRequest): Promise<string> {
  const { minLength } = await readSettings(services, 'password');
  return `${minLength} characters at least; none that everybody tries first, and nothing made of the user’s names.`;
}
