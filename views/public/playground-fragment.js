// An answer in the fragment reaches the browser alone: this hands it to the playground, and takes it out of the address.
const fragment = location.hash.slice(1);
document.getElementById(fragment === '' ? 'nothing' : 'waiting').hidden = false;
if (fragment !== '') {
  history.replaceState(null, '', location.pathname);
  document.getElementById('fragment').value = fragment;
  document.getElementById('fragment-form').submit();
}
