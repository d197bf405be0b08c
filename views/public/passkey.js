// Passkeys (WebAuthn Level 3), over the library in simplewebauthn.js: the form appears where the browser knows them, and is sent with its answer.
// In a block: the scripts of a page share their names.
{
  const { browserSupportsWebAuthn, browserSupportsWebAuthnAutofill, startAuthentication, startRegistration } = SimpleWebAuthnBrowser;
  const form = document.getElementById('passkey-form');
  const button = document.getElementById('passkey');
  const problem = document.getElementById('passkey-problem');
  const typing = document.querySelector('input[autocomplete~="webauthn"]');
  const start = form?.dataset.ceremony === 'create' ? startRegistration : startAuthentication;
  const begun = Date.now();

  const isOver = () => Date.now() - begun > form.dataset.seconds * 1000;

  async function ask(extra) {
    const answer = await start({ optionsJSON: JSON.parse(form.dataset.options), ...extra });
    form.elements.credential.value = JSON.stringify(answer);
    form.submit();
  }

  /** Offers the passkeys where the user name is typed; whatever hinders it, the button is there. */
  async function offer() {
    if (typing !== null && (await browserSupportsWebAuthnAutofill())) await ask({ useBrowserAutofill: true }).catch(() => undefined);
  }

  /** After a password, the password manager that filled it in may make a passkey without asking (WebAuthn Level 3 section 5.1.3, conditional mediation). */
  async function upgrade() {
    const able = await PublicKeyCredential.getClientCapabilities?.().catch(() => undefined);
    if (!able?.conditionalCreate) return;
    const optionsJSON = JSON.parse(form.dataset.options);
    optionsJSON.authenticatorSelection.userVerification = 'preferred';
    await ask({ optionsJSON, useAutoRegister: true }).catch(() => undefined);
  }

  const REASONS = { NotAllowedError: 'cancelled', AbortError: 'cancelled', InvalidStateError: 'known' };

  form?.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.hidden = true;
    button.disabled = true;
    try {
      await ask();
    } catch (error) {
      problem.textContent = form.dataset[REASONS[error.name] ?? 'failed'];
      problem.hidden = false;
      button.disabled = false;
      button.focus();
      offer();
    }
  });

  if (form !== null && browserSupportsWebAuthn()) {
    form.hidden = false;
    const { unknown: credentialId, options } = form.dataset;
    // The password manager stops offering it (WebAuthn Level 3 section 5.1.10).
    if (credentialId !== undefined)
      PublicKeyCredential.signalUnknownCredential?.({ rpId: JSON.parse(options).rpId, credentialId }).catch(() => undefined);
    document.getElementById('passkey-or')?.removeAttribute('hidden');
    document.getElementById('passkey-needs')?.remove();
    // Who was refused just now chooses by the button: an authenticator that answers by itself would be asked for ever.
    if (document.querySelector('a[href="#passkey"]') === null) form.dataset.upgrade === undefined ? offer() : upgrade();
    // Anyone who comes back to a page that has waited too long, and has typed nothing yet, finds a new one.
    document.addEventListener('visibilitychange', () => {
      const untouched =
        typing !== null &&
        [...document.querySelectorAll('input:not([type="hidden"])')].every(({ value, defaultValue }) => value === defaultValue);
      if (document.visibilityState === 'visible' && isOver() && untouched) location.replace(location.pathname + location.search);
    });
  } else {
    // Nothing is asked where no passkey can be made.
    const offered = document.getElementById('offer-form');
    if (offered !== null) {
      offered.elements.answer.value = 'unable';
      offered.submit();
    }
  }
}
