// The list of runs: running ones first, then stored ones, newest first.

import { asProblem, count, el, level, micros, rate, request, seconds, showProblem, when } from './format.js';

const REFRESH_MS = 3_000;
/** Newest runs that are looked at for changes. */
const LOOKED_AT = 5;

/** Shows the list in `place`. */
export async function listPage(place) {
  const chosen = new Map();
  const problem = el('div');
  const running = el('div');
  const rows = el('tbody');
  const more = el('button', { type: 'button', hidden: true }, 'Show older runs');
  const summary = el('p', { class: 'soft small' });
  const compare = el('button', { type: 'button', disabled: true }, 'Compare the two marked runs');
  const chosenText = el('span', { class: 'soft small', role: 'status' }, 'Mark two runs to compare them.');
  const filter = el('input', { id: 'filter', type: 'search', autocomplete: 'off' });
  const stored = el('div', { hidden: true },
    el('h2', {}, 'Stored runs'), summary,
    el('form', { class: 'row', onsubmit: (event) => event.preventDefault() },
      el('div', { class: 'field' }, el('label', { for: 'filter' }, 'Filter the rows below by name, target or verdict'), filter),
      compare, chosenText),
    el('table', { class: 'cards' },
      el('thead', {}, el('tr', {}, ['', 'Run', 'Verdict', 'Started', 'Load', 'Done', 'p99', 'Failed'].map((name, at) => el('th', { scope: 'col', class: at >= 5 ? 'number' : at === 0 ? 'mark' : null }, name || el('span', { class: 'hidden' }, 'Mark'))))),
      rows),
    el('p', {}, more));
  const empty = el('div', { hidden: true }, el('p', {}, 'No run is stored yet. '), el('p', {}, el('a', { href: '#/start' }, 'Start a run from an experiment file'), ', or in a terminal: ', el('code', {}, 'wavetank run URL')));
  place.replaceChildren(el('h1', {}, 'Runs'), problem, running, empty, stored);

  const choose = (run, isMarked) => {
    if (isMarked) chosen.set(run.folder, run);
    else chosen.delete(run.folder);
    compare.disabled = chosen.size !== 2;
    const names = [...chosen.values()].map((one) => one.name || one.folder);
    chosenText.textContent = chosen.size === 2 ? `A is ${earlier(chosen)[0].id}, B is ${earlier(chosen)[1].id}`
      : chosen.size === 0 ? 'Mark two runs to compare them.' : `Marked: ${names.join(', ')}; a comparison has two runs.`;
  };
  compare.addEventListener('click', () => {
    const [a, b] = earlier(chosen).map((run) => encodeURIComponent(run.folder));
    location.assign(`/compare?a=${a}&b=${b}`);
  });
  filter.addEventListener('input', () => applyFilter(rows, filter.value));

  let [loaded, total, isStopped, timer, newest, runningNow] = [0, 0, false, null, null, []];
  const load = async (offset) => {
    const reply = await request(`/api/runs?offset=${offset}`);
    if (offset === 0) {
      rows.replaceChildren();
      loaded = 0;
      newest = reply.runs[0]?.folder;
    }
    rows.append(...reply.runs.map((run) => row(run, chosen, choose)));
    loaded += reply.runs.length;
    total = reply.total;
    applyFilter(rows, filter.value);
    more.hidden = loaded >= total;
    summary.textContent = `${count(loaded)} of ${count(total)} in ${reply.runs_dir}`
      + (reply.others > 0 ? `; ${count(reply.others)} other entries, such as searches and packed runs, are shown by: wavetank runs list` : '');
    stored.hidden = total === 0;
    empty.hidden = total > 0 || reply.running.length > 0;
    if (offset === 0) {
      showRunning(running, reply.running);
      runningNow = reply.running.map((run) => run.id);
    }
  };
  more.addEventListener('click', async () => {
    more.disabled = true;
    await load(loaded).catch((thrown) => showProblem(problem, asProblem(thrown)));
    more.disabled = false;
  });
  const refresh = async () => {
    try {
      const reply = await request(`/api/runs?offset=0&limit=${LOOKED_AT}`);
      const ended = runningNow.filter((id) => reply.running.every((run) => run.id !== id));
      showProblem(problem, null);
      showRunning(running, reply.running);
      runningNow = reply.running.map((run) => run.id);
      // Rows with marks or focus are only replaced if there is a new run.
      if (!isStopped && (reply.total !== total || reply.runs[0]?.folder !== newest || hasChanged(rows, reply.runs) || ended.length > 0)) {
        await load(0);
      }
    } catch (thrown) {
      showProblem(problem, asProblem(thrown));
    }
    if (!isStopped) timer = setTimeout(refresh, REFRESH_MS);
  };
  await load(0);
  timer = setTimeout(refresh, REFRESH_MS);
  return {
    close: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** The marked runs, the earlier one first: it is the reference. */
const earlier = (chosen) => [...chosen.values()].sort((one, other) => one.started_at.localeCompare(other.started_at));

const stateOf = (run) => (run.state === 'finished' && run.verdict ? run.verdict : run.state);

/** Whether a run of the first rows has ended since they were shown. */
const hasChanged = (rows, runs) => runs.some((run) => {
  const shown = rows.querySelector(`tr[data-run="${CSS.escape(run.folder)}"]`);
  return shown && shown.dataset.state !== stateOf(run);
});

function applyFilter(rows, text) {
  const sought = text.trim().toLowerCase();
  for (const one of rows.rows) one.hidden = sought !== '' && !one.textContent.toLowerCase().includes(sought);
}

function row(run, chosen, choose) {
  const state = stateOf(run);
  const mark = el('input', {
    type: 'checkbox', 'aria-label': `Mark ${run.name || run.folder}, ${when(run.started_at)}`, disabled: run.state !== 'finished',
    onchange: (event) => choose(run, event.target.checked),
  });
  mark.checked = chosen.has(run.folder);
  const link = el('a', { href: `#/run/${encodeURIComponent(run.state === 'running' && run.id ? run.id : run.folder)}` }, run.name || run.folder);
  return el('tr', { 'data-run': run.folder, 'data-state': state },
    el('td', { class: 'mark' }, mark),
    el('th', { scope: 'row' }, link, ' ', el('span', { class: 'soft small' }, run.id), run.target ? el('div', { class: 'soft small' }, run.target) : ''),
    el('td', {}, el('span', { class: `badge ${state}` }, state), run.problem ? el('div', { class: 'small' }, run.problem) : ''),
    el('td', { 'data-label': 'started' }, when(run.started_at)),
    el('td', {}, run.load),
    el('td', { class: 'number', 'data-label': 'done' }, run.done_per_s === undefined ? '–' : rate(run.done_per_s)),
    el('td', { class: 'number', 'data-label': 'p99' }, micros(run.p99_us)),
    el('td', { class: 'number', 'data-label': 'failed' }, run.failed === undefined ? '–' : count(run.failed)));
}

function showRunning(place, runs) {
  if (runs.length === 0) {
    place.replaceChildren();
    return;
  }
  const item = (run) => el('li', {},
    el('a', { href: `#/run/${encodeURIComponent(run.id)}` }, run.name), ' ',
    el('span', { class: `badge ${run.state}` }, run.state),
    ` ${run.target} · ${seconds(run.at_s)}${run.ends_at_s === undefined ? '' : ` of ${seconds(run.ends_at_s)}`} · done ${rate(run.done_per_s)} of ${rate(run.offered_per_s)} · failed ${count(run.failed)}`
    + (run.search ? ` · search, ${count(run.search.runs.length)} runs finished${run.search.level === undefined ? '' : `, now at ${level(run.search.of, run.search.level)}`}` : '')
    + (run.agents > 0 ? ` · ${run.agents} agents` : '') + (run.modified ? ' · load modified' : ''));
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  place.replaceChildren(el('h2', {}, 'Running'), el('ul', { class: 'plain' }, runs.map(item)));
  if (focused) place.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}
