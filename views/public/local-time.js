// Times in the viewer's own time zone, and in UTC on hover, where the server wrote UTC.
const date = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};
const { lang } = document.documentElement;
const locale = lang === 'en' ? 'en-GB' : lang;
const usual = new Intl.DateTimeFormat(locale, date);
const exact = new Intl.DateTimeFormat(locale, { ...date, second: '2-digit', fractionalSecondDigits: 3, timeZoneName: 'short' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long' });
// In a long list the year of now and the zone would take half the column.
const short = new Intl.DateTimeFormat(locale, { ...date, year: undefined, second: '2-digit', fractionalSecondDigits: 3 });
function localize(part) {
  for (const time of part.querySelectorAll('time[datetime]')) {
    const moment = new Date(time.dateTime);
    // A day without a time of day is the same everywhere.
    if (!time.dateTime.includes('T') || Number.isNaN(moment.getTime())) continue;
    time.title ||= time.textContent;
    const isOfNow = time.closest('.dense') !== null && moment.getFullYear() === new Date().getFullYear();
    time.textContent = ('day' in time.dataset ? day : isOfNow ? short : 'exact' in time.dataset ? exact : usual).format(moment);
  }
}
localize(document);
for (const line of document.querySelectorAll('[data-zone]'))
  line.textContent = line.dataset.zone.replace('…', usual.resolvedOptions().timeZone);
// Rows that a script adds later (live.js).
document.addEventListener('rows', ({ target }) => localize(target));
// For "Today" in the system log. Without JavaScript, the service uses the time zone of the profile.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const known = `gatehouse-zone=${timeZone}`;
if (location.pathname.startsWith('/admin') && !document.cookie.split('; ').includes(known)) {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers
  document.cookie = `${known}; Path=/admin; Max-Age=31536000; SameSite=Lax${secure}`;
}
