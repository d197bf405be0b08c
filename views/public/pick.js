// The picker: a combobox (WAI-ARIA Authoring Practices, "Editable combobox with list autocomplete") in fields that name objects.
// [data-pick] chooses several, which become chips with the field names of the check boxes; [data-suggest] names one. The search everywhere finds them.
const PICK_AFTER_MS = 150;
const PICK_FROM = 2;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const avatarOf = (initials) => element('span', { class: 'avatar', 'aria-hidden': 'true' }, initials);

/** The same initials as src/pages/console/avatar.ts makes, of the name or the user name. */
function initialsOf(name) {
  const words = name.split('@')[0].match(/[\p{L}\p{N}]+/gu) ?? ['?'];
  const ends = [words[0], ...(words.length > 1 ? [words.at(-1)] : [])];
  return ends
    .map((word) => [...word][0])
    .join('')
    .toLocaleUpperCase('en');
}

/**
 * @param row of the page of the search: the name with a link, and a detail; for users the user name, the full name and the e-mail address
 * @param isByName is the name chosen instead of the ID in the link?
 */
function foundIn(row, isByName) {
  const link = row.querySelector('a');
  const path = link.getAttribute('href');
  const title = link.textContent.trim();
  const text = row.querySelector('td')?.textContent.trim() ?? '';
  const detail = text === '–' ? '' : text;
  const id = isByName ? title : decodeURIComponent(path.split('/').at(-1));
  if (!path.startsWith('/admin/users/')) return { id, name: title, detail, label: title };
  const [, full, email] = /^(.*?)(?:(?:^|, )([^\s,]+@[^\s,]+))?$/.exec(detail);
  const name = full || title;
  const details = [...new Set([title, email])].filter((one) => one && one !== name);
  return { id, name, detail: details.join(' · '), label: full ? `${full} – ${title}` : title, initials: initialsOf(name) };
}

/**
 * @param isTaken is this ID chosen already? @param choose receives the chosen object
 * @param listed objects that match the words without a request; undefined: a request is needed
 * @returns a function that tells the live region
 */
function combobox(input, kinds, { none, matches, byName, within = '' }, isTaken, choose, listed = () => undefined) {
  const list = element('ul', { id: `${input.id}-options`, role: 'listbox', 'aria-label': input.ariaLabel ?? input.labels[0].textContent });
  const status = element('p', { class: 'visually-hidden', role: 'status' });
  const box = element('div', { class: 'combobox' });
  let options = [];
  let active = -1;
  let request;
  let timer;

  input.type = 'text';
  const state = { role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': list.id };
  for (const [name, value] of Object.entries(state)) input.setAttribute(name, value);
  list.hidden = true;
  input.replaceWith(box);
  box.append(input, list, status);

  function point(at) {
    options[active]?.node.setAttribute('aria-selected', 'false');
    active = at;
    const node = options[active]?.node;
    if (node === undefined) return input.removeAttribute('aria-activedescendant');
    node.setAttribute('aria-selected', 'true');
    node.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', node.id);
  }

  /** Requests that are still under way are outdated. */
  function close() {
    clearTimeout(timer);
    request?.abort();
    point(-1);
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
  }

  function take({ found }) {
    close();
    choose(found);
  }

  function optionOf(found, at) {
    const words = element('span', {}, element('bdi', {}, found.name), element('small', {}, found.detail));
    const node = element('li', { id: `${list.id}-${at}`, role: 'option', 'aria-selected': 'false' }, words);
    if (found.initials !== undefined) node.prepend(avatarOf(found.initials));
    const option = { found, node };
    node.addEventListener('click', () => take(option));
    return option;
  }

  async function look() {
    close();
    const q = input.value.trim();
    const known = listed(q);
    if (known !== undefined) return show(known);
    if (q.length < PICK_FROM) return;
    request = new AbortController();
    const { signal } = request;
    const address = `/admin/search?${new URLSearchParams({ q, only: kinds, within })}`;
    const page = await fetch(address, { signal })
      .then(async (answer) =>
        answer.ok && !answer.redirected ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined,
      )
      .catch(() => undefined);
    if (page === undefined || signal.aborted) return;
    show([...page.querySelectorAll('main tbody tr:has(a)')].map((row) => foundIn(row, byName !== undefined)));
  }

  function show(found) {
    options = found.filter(({ id }) => !isTaken(id)).map(optionOf);
    const nothing = element('li', { role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' }, none);
    list.replaceChildren(...(options.length === 0 ? [nothing] : options.map(({ node }) => node)));
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    status.textContent = options.length === 0 ? none : `${matches}: ${options.length}`;
  }

  const count = () => options.length;
  const keys = {
    ArrowDown: () => point((active + 1) % count()),
    ArrowUp: () => point((active < 1 ? count() : active) - 1),
    // Without an active option, they move within the text.
    Home: () => active >= 0 && point(0),
    End: () => active >= 0 && point(count() - 1),
    Enter: () => active >= 0 && take(options[active]),
    Escape: close,
  };
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const isOpen = !list.hidden;
    if (event.key.startsWith('Arrow') && !isOpen && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      event.preventDefault();
      look();
    } else if (isOpen && event.key in keys && (count() > 0 || event.key === 'Escape')) {
      if (keys[event.key]() !== false) event.preventDefault();
    }
  });
  input.addEventListener('input', () => {
    clearTimeout(timer);
    request?.abort();
    timer = setTimeout(look, PICK_AFTER_MS);
  });
  // The field keeps the focus while an option is clicked.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  input.addEventListener('blur', close);
  return (text) => {
    status.textContent = text;
  };
}

/** A list stays the field that is sent. The combobox shows its entries, and what it finds besides. */
function overList(select) {
  const empty = [...select.options].find(({ value }) => value === '');
  const input = element('input', { id: select.id, autocomplete: 'off', dir: 'auto', placeholder: empty?.text ?? '' });
  for (const name of ['aria-describedby', 'aria-invalid'])
    if (select.hasAttribute(name)) input.setAttribute(name, select.getAttribute(name));
  select.id = `${select.id}-value`;
  select.hidden = true;
  // A browser asks for a missing value only where it is visible.
  input.required = select.required;
  select.required = false;
  select.before(input);

  const kinds = select.dataset.suggest;
  const shown = () => (select.value === '' ? '' : select.selectedOptions[0].text.trim());
  const entryOf = ({ value: id, text: label }) => {
    const [name, ...details] = kinds === 'users' ? label.split(' – ') : [label.trim()];
    return { id, name, detail: details.join(' – '), label: label.trim(), ...(kinds === 'users' && { initials: initialsOf(name) }) };
  };
  function listed(q) {
    const isChanged = q !== shown();
    if (isChanged && kinds !== '' && q.length >= PICK_FROM) return undefined;
    const words = isChanged ? q.toLocaleLowerCase() : '';
    return [...select.options].filter(({ value, text }) => value !== '' && text.toLocaleLowerCase().includes(words)).map(entryOf);
  }
  function choose({ id, label }) {
    if (![...select.options].some(({ value }) => value === id)) select.append(new Option(label, id));
    select.value = id;
    input.value = shown();
  }
  combobox(input, kinds, select.dataset, () => false, choose, listed);
  input.value = shown();
  input.addEventListener('click', () => input.dispatchEvent(new Event('input')));
  /** Words or an ID that match one entry choose it; others change nothing. @returns is the entry the one that the words name? */
  function settle() {
    const words = input.value.trim();
    const lower = words.toLocaleLowerCase();
    const fits = ({ value, text }) => value !== '' && (value === words || text.toLocaleLowerCase().includes(lower));
    const matches = words === shown() ? select.selectedOptions : words === '' && empty ? [empty] : [...select.options].filter(fits);
    if (matches.length === 1) select.value = matches[0].value;
    input.value = shown();
    return matches.length === 1;
  }
  input.addEventListener('blur', settle);
  input.addEventListener('keydown', (event) => {
    // The form is not sent with another choice than the typed one.
    if (event.key === 'Enter' && !event.defaultPrevented && !settle()) event.preventDefault();
  });
}

for (const select of document.querySelectorAll('select[data-suggest]')) overList(select);

for (const input of document.querySelectorAll('input[data-suggest]'))
  combobox(
    input,
    input.dataset.suggest,
    input.dataset,
    () => false,
    ({ id, label }) => {
      input.value = `${label} (${id})`;
    },
  );

for (const field of document.querySelectorAll('[data-pick]')) {
  const input = field.querySelector('input[type=search]');
  const search = input.parentElement;
  const chosen = element('ul', { class: 'chosen' });
  const { remove, selected } = field.dataset;
  const values = () => [...chosen.querySelectorAll('input')].map(({ value }) => value);

  function add({ id, label, initials }) {
    const button = element('button', { type: 'button', 'aria-label': `${remove}: ${label}` }, '×');
    const value = element('input', { type: 'hidden', name: field.id, value: id });
    const chip = element('li', {}, element('bdi', {}, label), button, value);
    if (initials !== undefined) chip.prepend(avatarOf(initials));
    button.addEventListener('click', () => {
      const next = (chip.nextElementSibling ?? chip.previousElementSibling)?.querySelector('button') ?? input;
      chip.remove();
      next.focus();
      say(`${remove}: ${label}. ${selected}: ${values().length}`);
    });
    chosen.append(chip);
  }

  for (const box of field.querySelectorAll('.box:has(:checked)')) {
    const initials = box.querySelector('.avatar')?.textContent;
    add({ id: box.querySelector('input').value, label: box.querySelector('bdi').textContent, initials });
  }
  for (const part of field.querySelectorAll('.box, .found, [role=status], .with-button > button')) part.remove();
  search.before(chosen);
  const say = combobox(
    input,
    field.dataset.pick,
    field.dataset,
    (id) => values().includes(id),
    (found) => {
      add(found);
      input.value = '';
      say(`${found.label}. ${selected}: ${values().length}`);
    },
  );
  // The words are sought, not sent: Enter does not save the form.
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault();
  });
}
