// Buttons that copy a field or a text; where the browser offers no clipboard (plain http) they stay hidden, and people select the text.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    source.select?.();
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    (button.querySelector('span') ?? button).textContent = button.dataset.copied;
  });
}
