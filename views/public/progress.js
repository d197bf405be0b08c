// While something goes on, its part of the page is read again every two seconds; without script there is a link that does the same.
const EVERY = 2000;
async function refresh() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const next = page.getElementById('progress');
    if (next === null) return;
    if (!('running' in next.dataset)) return location.replace(location.pathname);
    document.getElementById('progress').replaceChildren(...next.childNodes);
  }
  setTimeout(refresh, EVERY);
}
setTimeout(refresh, EVERY);
