// Proof of work (ALTCHA): solved by a worker while the form is filled in; a form that is sent sooner waits for it. Without it, the form goes on as it is.
{
  const field = document.getElementById('proof');
  const status = document.getElementById('proof-status');
  if (field !== null && typeof Worker === 'function' && globalThis.crypto?.subtle !== undefined) {
    const { form } = field;
    const challenge = JSON.parse(field.dataset.challenge);
    let waiting;
    let isOver = false;
    const worker = new Worker(new URL('proof-of-work-worker.js', document.currentScript.src), { type: 'module' });
    const end = (solution) => {
      if (isOver) return;
      isOver = true;
      if (solution) field.value = JSON.stringify({ challenge, solution });
      status.textContent = '';
      worker.terminate();
      if (waiting !== undefined) form.requestSubmit(waiting.submitter);
    };
    worker.addEventListener('message', ({ data }) => end(data));
    worker.addEventListener('error', () => end(undefined));
    worker.postMessage(challenge);
    form.addEventListener('submit', (event) => {
      if (isOver) return;
      event.preventDefault();
      status.textContent = status.dataset.working;
      waiting = { submitter: event.submitter };
    });
  }
}
