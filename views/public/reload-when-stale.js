// Some browsers bring a page back as it was left, no-store or not: it would show a form that is over.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
