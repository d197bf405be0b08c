// Sends the page's form at once; without JavaScript its button does.
document.getElementById('form-post').submit();
