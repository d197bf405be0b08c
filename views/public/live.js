// The log as it happens: the page is read again every two seconds, and its newer rows come on top. It stops when nobody was there for ten minutes,
// so that an open page does not keep its session alive. Without script the link "Newer" reads the page again.
const EVERY = 2000;
const WATCHED = 600_000;
let seen = Date.now();
for (const kind of ['pointermove', 'keydown', 'scroll'])
  document.addEventListener(
    kind,
    () => {
      seen = Date.now();
    },
    { passive: true },
  );

const list = () => document.querySelector('main .list tbody');
const addressOf = (row) => row.querySelector('td a')?.getAttribute('href');

async function refresh() {
  if (Date.now() - seen > WATCHED) return location.replace(document.querySelector('main a.button:has(.icon-deactivate)').href);
  const answer = document.hidden ? undefined : await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  if (answer?.ok && !answer.redirected) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const next = page.querySelector('main .list');
    if (next !== null) show(next);
  }
  setTimeout(refresh, EVERY);
}

function show(next) {
  const body = list();
  if (body === null) {
    const first = document.importNode(next, true);
    document.querySelector('main .empty').replaceWith(first);
    first.dispatchEvent(new Event('rows', { bubbles: true }));
    return;
  }
  const known = new Set([...body.rows].map(addressOf));
  const fresh = [...next.querySelectorAll('tbody tr')].filter((row) => !known.has(addressOf(row)));
  for (const row of fresh) row.classList.add('fresh');
  const count = Math.max(body.rows.length, 50);
  body.prepend(...fresh);
  for (const row of [...body.rows].slice(count)) row.remove();
  for (const row of fresh) row.dispatchEvent(new Event('rows', { bubbles: true }));
}
setTimeout(refresh, EVERY);
