// Tells the password manager which passkeys count (WebAuthn Level 3 section 5.1.10). Browsers that cannot be told go on as before.
{
  const signals = document.getElementById('passkey-signals')?.dataset.signals;
  const known = globalThis.PublicKeyCredential;
  if (signals !== undefined && known !== undefined) {
    const { accepted, details } = JSON.parse(signals);
    known.signalAllAcceptedCredentials?.(accepted).catch(() => undefined);
    known.signalCurrentUserDetails?.(details).catch(() => undefined);
  }
}
