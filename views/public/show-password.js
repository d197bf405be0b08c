// Lets people see what they typed; without it the button stays hidden.
const button = document.getElementById('show-password');
const field = document.getElementById('password');
const show = { text: button.textContent, label: button.getAttribute('aria-label') };
const hide = { text: button.dataset.hide, label: button.dataset.hideLabel };

function setVisible(visible) {
  const next = visible ? hide : show;
  field.type = visible ? 'text' : 'password';
  button.textContent = next.text;
  button.setAttribute('aria-label', next.label);
}

button.hidden = false;
button.addEventListener('click', () => setVisible(field.type === 'password'));
// Browsers remember what a text field held, and a page may come back by the back button.
field.form.addEventListener('submit', () => setVisible(false));
