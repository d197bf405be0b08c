// Keeps recovery codes: as a text file, or on paper. Copying is in copy.js.
const codes = [...document.querySelectorAll('#recovery-codes code')].map((code) => code.textContent);
document.getElementById('download-codes').href = `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`;
document.getElementById('print-codes').addEventListener('click', () => window.print());
document.getElementById('keep-codes').hidden = false;
