// Selects all rows of this page at once; without script its box stays hidden.
const all = document.getElementById('choose-all');
const count = document.querySelector('#choose-button span');
const boxes = [...all.form.querySelectorAll('.list .choose input')];

function show() {
  const checked = boxes.filter((box) => box.checked).length;
  all.checked = checked === boxes.length;
  all.indeterminate = checked > 0 && !all.checked;
  if (count !== null) count.textContent = checked === 0 ? '' : ` (${checked})`;
}

all.addEventListener('change', () => {
  for (const box of boxes) box.checked = all.checked;
});
all.form.addEventListener('change', show);
all.closest('.choose-all').hidden = false;
show();
