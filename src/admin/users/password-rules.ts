/** What is asked of a password, as a hint beside its field: whoever sets one may have no page that tells it. */
import { readSettings } from '../../services/settings.ts';
import type { Visit } from '../page.ts';

export async function passwordRules({ services }: Visit): Promise<string> {
  const { minLength } = await readSettings(services, 'password');
  return `${minLength} characters at least; none that everybody tries first, and nothing made of the user’s names.`;
}
