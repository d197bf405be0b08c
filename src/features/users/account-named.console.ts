/** An account that a form names by what its user signs in with. */

import type { LineField } from '../../pages/console/form.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { ApiError, validation } from '../../platform/errors/errors.ts';
import type { User } from './users.resource.ts';
import { getUser } from './users.service.ts';

export const LOGIN_FIELD: LineField = { name: 'login', label: 'User name', hint: 'User name of an existing account', required: true };

/** @throws {ApiError} validation when there is none, or he may not know of it */
export async function accountNamed({ services, request }: ConsoleRequest, login: string): Promise<User> {
  try {
    return await getUser(services, login, request);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      throw validation([{ field: LOGIN_FIELD.name, message: 'does not exist' }]);
    }
    throw error;
  }
}
