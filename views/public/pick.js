// Searches while one types, in fields that choose several of many. The search everywhere answers; what it finds becomes check boxes.
for (const field of document.querySelectorAll('[data-pick]')) {
  const input = field.querySelector('input[type=search]');
  const status = field.querySelector('[role=status]');
  const found = field.querySelector('.found');
  const kind = field.dataset.pick;
  let asked = 0;
  let timer;

  const values = () => new Set([...field.querySelectorAll('input[type=checkbox]')].filter((box) => box.checked).map((box) => box.value));

  /** The same initials as src/pages/console/avatar.ts makes, of the name or the user name. */
  function avatarOf(row) {
    const [name] = (row.querySelector('td')?.textContent.trim() || row.querySelector('a').textContent.trim()).split(/[@,]/);
    const words = name.match(/[\p{L}\p{N}]+/gu) ?? ['?'];
    const avatar = document.createElement('span');
    avatar.className = 'avatar';
    avatar.ariaHidden = 'true';
    avatar.textContent = [words[0], ...(words.length > 1 ? [words.at(-1)] : [])]
      .map((word) => [...word][0])
      .join('')
      .toLocaleUpperCase('en');
    return avatar;
  }

  function boxOf(row, at) {
    const link = row.querySelector('a');
    const id = decodeURIComponent(link.getAttribute('href').split('/').at(-1));
    if (values().has(id)) return [];
    const box = document.createElement('div');
    const check = document.createElement('input');
    const label = document.createElement('label');
    box.className = 'box';
    check.type = 'checkbox';
    check.name = field.id;
    check.value = id;
    check.id = `${field.id}-found-${at}`;
    label.htmlFor = check.id;
    const detail = row.querySelector('td')?.textContent.trim() ?? '';
    const text = [link.textContent.trim(), detail].filter((text) => text !== '' && text !== '–').join(' – ');
    if (kind === 'users') label.append(avatarOf(row), ' ');
    label.append(text);
    box.append(check, label);
    return [box];
  }

  async function look() {
    const q = input.value.trim();
    asked += 1;
    const mine = asked;
    if (q.length < 2) return;
    const answer = await fetch(`/admin/search?q=${encodeURIComponent(q)}`).catch(() => undefined);
    if (!answer?.ok || answer.redirected || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const rows = [...page.querySelectorAll(`main tbody tr:has(a[href^="/admin/${kind}/"])`)];
    // What was ticked stays, above what is found now.
    for (const box of found.querySelectorAll('.box:has(:checked)')) found.before(box);
    const boxes = rows.flatMap(boxOf);
    found.replaceChildren(...boxes);
    status.textContent = boxes.length === 0 ? status.dataset.none : '';
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 200);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    look();
  });
}
