// Search everywhere: "/" or Ctrl+K leads to the field, and what is found shows below it while one types. Without script the form opens a page.
const field = document.getElementById('find');
const found = document.getElementById('found');
const PAUSE = 150;
let asked = 0;
let timer;

const isTyping = (element) => element.closest('input, textarea, select, [contenteditable]') !== null;

document.addEventListener('keydown', (event) => {
  const isShortcut = (event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !isTyping(event.target));
  if (isShortcut) {
    event.preventDefault();
    field.focus();
    field.select();
  }
  if (event.key === 'Escape' && !found.hidden) {
    // Browsers would clear the field.
    event.preventDefault();
    found.hidden = true;
    field.focus();
  }
});

const links = () => [...found.querySelectorAll('a')];

function move(event) {
  if (found.hidden || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
  event.preventDefault();
  const all = [field, ...links()];
  const next = all.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
  all[(next + all.length) % all.length].focus();
}
field.form.addEventListener('keydown', move);

function show(page) {
  const sections = [...page.querySelectorAll('main section')].map((section) => {
    const part = document.createElement('section');
    const title = document.createElement('h2');
    title.textContent = section.querySelector('h2').textContent;
    part.append(title);
    for (const row of section.querySelectorAll('tbody tr')) {
      const link = document.createElement('a');
      const source = row.querySelector('a');
      const detail = document.createElement('span');
      link.href = source.getAttribute('href');
      detail.textContent = row.querySelector('td')?.textContent.trim() ?? '';
      link.append(source.textContent, detail);
      part.append(link);
    }
    return part;
  });
  const none = document.createElement('p');
  none.textContent = page.querySelector('main .words-part')?.textContent.trim() ?? '';
  found.replaceChildren(...(sections.length > 0 ? sections : [none]));
  found.hidden = false;
}

async function look() {
  const q = field.value.trim();
  asked += 1;
  const mine = asked;
  if (q.length < 2) {
    found.hidden = true;
    return;
  }
  const answer = await fetch(`/admin/search?q=${encodeURIComponent(q)}`).catch(() => undefined);
  if (!answer?.ok || answer.redirected || mine !== asked) return;
  show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
}

field.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
});
// A menu closes by a click beside it, when the focus leaves it, and by Escape.
function closeMenusWithout(target) {
  for (const menu of document.querySelectorAll('details.more[open]')) if (!menu.contains(target)) menu.open = false;
}
document.addEventListener('click', (event) => {
  if (!field.form.contains(event.target)) found.hidden = true;
  closeMenusWithout(event.target);
});
document.addEventListener('focusin', (event) => closeMenusWithout(event.target));
document.addEventListener('keydown', (event) => {
  const menu = event.target.closest('details.more[open]');
  if (event.key !== 'Escape' || menu === null) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
