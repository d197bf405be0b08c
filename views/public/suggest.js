// Names while one types, in fields that name one of many. The search everywhere finds them; the browser offers what it found.
for (const input of document.querySelectorAll('[data-suggest]')) {
  let asked = 0;
  let timer;

  function optionOf(row) {
    const link = row.querySelector('a');
    const detail = row.querySelector('td')?.textContent.trim() ?? '';
    const name = [link.textContent.trim(), detail].filter((text) => text !== '' && text !== '–').join(' – ');
    const option = document.createElement('option');
    option.value = `${name} (${decodeURIComponent(link.getAttribute('href').split('/').at(-1))})`;
    return option;
  }

  async function look() {
    const q = input.value.trim();
    asked += 1;
    const mine = asked;
    if (q.length < 2 || q.endsWith(')')) return;
    const answer = await fetch(`/admin/search?q=${encodeURIComponent(q)}`).catch(() => undefined);
    if (!answer?.ok || answer.redirected || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const rows = [...page.querySelectorAll(`main tbody tr:has(a[href^="/admin/${input.dataset.suggest}/"])`)];
    const options = rows.map(optionOf);
    // Browsers offer only what holds the words as they were typed.
    for (const option of options) option.label = `${q}: ${option.value}`;
    input.list.replaceChildren(...options);
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 200);
  });
}
