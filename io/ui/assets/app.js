// The page: shows the part that the address names after `#`.

import { announce, asProblem, el, request, showProblem } from './format.js';
import { listPage } from './list.js';
import { runPage } from './run.js';
import { startPage } from './start.js';

const main = document.getElementById('main');
/** Ends what the shown part does in the background. */
let close = () => {};
let shown = 0;

async function show() {
  const [, name = '', item = ''] = location.hash.split('/').map(decode);
  close();
  close = () => {};
  shown += 1;
  const own = shown;
  for (const link of document.querySelectorAll('nav a')) {
    const isCurrent = link.getAttribute('href') === (name === 'start' ? '#/start' : '#/') && name !== 'run';
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const place = el('div');
  main.replaceChildren(place);
  const page = { run: () => runPage(item, place), start: () => startPage(place, item), '': () => listPage(place) }[name] ?? (() => listPage(place));
  try {
    const part = await page();
    if (own === shown) close = part.close ?? (() => {});
    else part.close?.();
  } catch (thrown) {
    if (own === shown) showProblem(place, asProblem(thrown));
  }
  const title = main.querySelector('h1')?.textContent;
  document.title = title ? `${title} · Wavetank` : 'Wavetank';
  if (own > 1) {
    main.focus({ preventScroll: true });
    announce(title ?? '');
  }
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

addEventListener('hashchange', () => {
  // `#main` is the link to the content, not a part of the page.
  if (location.hash.startsWith('#/') || location.hash === '') show();
});

if (location.hash === '') {
  // `run --ui` opens its own run first.
  const first = await request('/api/start-page').catch(() => ({ run: null }));
  if (first.run) location.replace(`#/run/${encodeURIComponent(first.run)}`);
  else show();
} else {
  show();
}
