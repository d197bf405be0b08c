/**
 * Fields that Okta's SDKs and Terraform provider always send. They cannot be changed here: only Okta's default is accepted, and nothing is stored.
 */
import { z } from 'zod';

export const oktaDefault = <T extends boolean | string>(value: T) =>
  z.literal(value).optional().meta({ description: "Okta's default; accepted and ignored" });
