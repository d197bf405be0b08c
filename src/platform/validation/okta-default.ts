/** What Okta's SDKs and its Terraform provider send unasked. Nothing here can differ from it, so only Okta's default is accepted and nothing is stored. */
import { z } from 'zod';

export const oktaDefault = <T extends boolean | string>(value: T) =>
  z.literal(value).optional().meta({ description: "Okta's default; accepted and ignored" });
