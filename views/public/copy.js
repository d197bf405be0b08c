// Buttons that copy a field; where the browser offers no clipboard (plain http) they stay hidden, and people select the text.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    await navigator.clipboard.writeText(field.value);
    button.textContent = button.dataset.copied;
  });
}
