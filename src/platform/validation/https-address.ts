/** Is this the address of something on the web, without a user or password in it? */
export function isHttpsAddress(value: string): boolean {
  if (!/^https:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}

/** The same by http, on this machine alone. */
export function isLocalAddress(value: string): boolean {
  if (!/^http:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { hostname, username, password } = new URL(value);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) && username === '' && password === '';
}
