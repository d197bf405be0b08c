/** Short name of a browser from its User-Agent (RFC 9110 section 10.1.5). Never shows the header itself: anyone who signs in can choose it. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** The browser and the operating system; undefined if unknown. */
export function recognise(userAgent: string): { readonly browser: string | undefined; readonly os: string | undefined } {
  const first = (known: readonly (readonly [RegExp, string])[]) => known.find(([sign]) => sign.test(userAgent))?.[1];
  return { browser: first(BROWSERS), os: first(SYSTEMS) };
}

/** @returns e.g. `Firefox, Windows`; undefined if both are unknown */
export function browserName(userAgent: string): string | undefined {
  const { browser, os } = recognise(userAgent);
  const names = [browser, os].filter((name) => name !== undefined);
  return names.length === 0 ? undefined : names.join(', ');
}
