/** @returns the words of a space-separated parameter such as `scope`, `prompt` or `response_type` (RFC 6749 section 3.3); none of what is no text */
export const spaceSeparated = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : [];
