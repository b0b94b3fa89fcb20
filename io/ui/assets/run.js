// One run: live while it is running, and its result afterwards.

import { Chart, Points } from './chart.js';
import { announce, asProblem, bytes, count, el, level, micros, rate, request, seconds, showProblem, when } from './format.js';

/** Formats of `wavetank report`. */
const FORMATS = ['html', 'text', 'oneline', 'json', 'csv', 'junit', 'markdown', 'hgrm', 'hlog'];
/** Those of a search. */
const SEARCH_FORMATS = ['html', 'text', 'json', 'csv', 'junit', 'markdown'];
const CORES_MS = 2_000;
const CORES_FIRST_MS = 500;
/** A browser that got no state for longer has slept, or the connection was cut. */
const GAP_S = 3;
/** A run seals about once a second; without a state for longer, the page says so. */
const SILENT_MS = 5_000;
/** How often, and how many times, to ask for a result that is not stored yet. */
const ENDING_MS = 250;
const ENDING_ATTEMPTS = 120;

/** Shows the run in `place` of the page. */
export async function runPage(run, place) {
  const reply = await request(`/api/runs/${encodeURIComponent(run)}`);
  if (reply.running) return new LiveRun(place, reply.running).start();
  return reply.search ? storedSearch(place, reply.search) : storedRun(place, reply.stored);
}

function storedSearch(place, search) {
  const path = `/runs/${encodeURIComponent(search.folder)}`;
  place.replaceChildren(
    el('h1', {}, search.name || search.folder),
    el('p', {}, el('span', { class: `badge ${search.exit === 0 ? 'pass' : 'incomplete'}` }, search.end), ` ${search.headline}`),
    el('p', { class: 'soft' }, `${search.target} · search ${search.id} · ${count(search.runs)} runs · started ${when(search.started_at)}`),
    el('p', {}, el('a', { class: 'button', href: `${path}/report` }, 'Open the report')),
    el('h2', {}, 'Download'),
    el('ul', { class: 'downloads' }, SEARCH_FORMATS.map((format) => el('li', {}, el('a', { class: 'button', href: `${path}/download/${format}`, download: true }, format)))));
  announce(`${search.name}: ${search.headline}`);
  return {};
}

function storedRun(place, run) {
  const path = `/runs/${encodeURIComponent(run.folder)}`;
  const state = run.state === 'finished' && run.verdict ? run.verdict : run.state;
  const isReadable = run.state === 'finished' || run.state === 'unfinished' || run.state === 'running';
  const numbers = run.state === 'finished' ? tiles([
    ['done', run.done_per_s === undefined ? '–' : rate(run.done_per_s)], ['offered', run.offered_per_s === undefined ? '–' : rate(run.offered_per_s)],
    ['p50', micros(run.p50_us)], ['p99', micros(run.p99_us)], ['failed', count(run.failed ?? 0), run.failed > 0 ? 'bad' : null], ['length', seconds(run.duration_s)],
  ]) : '';
  const hints = {
    unfinished: 'Its process ended before the run was over. The report shows the sealed seconds.',
    running: 'It is running, but its process does not reply here. The report shows the sealed seconds.',
    damaged: 'It cannot be read: wavetank runs show says what is wrong.',
    newer: 'A later version of wavetank wrote it.',
  };
  place.replaceChildren(
    el('h1', {}, run.name || run.folder),
    el('p', {}, el('span', { class: `badge ${state}` }, state), ` ${run.load}`),
    el('p', { class: 'soft' }, `${run.target ? `${run.target} · ` : ''}run ${run.id} · started ${when(run.started_at)}`),
    hints[run.state] ? el('p', {}, hints[run.state]) : '',
    run.problem ? el('p', { class: 'problem' }, run.problem) : '',
    numbers,
    ...(isReadable ? [
      el('p', {}, el('a', { class: 'button', href: `${path}/report` }, 'Open the report')),
      el('h2', {}, 'Download'),
      el('ul', { class: 'downloads' }, FORMATS.map((format) => el('li', {}, el('a', { class: 'button', href: `${path}/download/${format}`, download: true }, format)))),
    ] : []));
  announce(`${run.name}: ${state}`);
  return {};
}

const tiles = (rows) => el('dl', { class: 'numbers' }, rows.map(([name, value, kind]) => el('div', { class: kind }, el('dt', {}, name), el('dd', {}, value))));

/** A running run. */
export class LiveRun {
  constructor(place, state) {
    Object.assign(this, { place, state, id: state.id, points: new Points(), source: null, isClosed: false, cores: null, timers: [], last: performance.now() });
    const line = (points) => points.length_s || 1;
    this.charts = [
      new Chart('rate', 'Requests per second', [
        { name: 'offered', value: (point) => point.offered_per_s, class: 's1' },
        { name: 'done', value: (point) => point.done_per_s, class: 's0' },
      ], rate),
      new Chart('times', 'Response time of each second', [
        { name: 'p99', value: (point) => point.p99_us, class: 's1' },
        { name: 'p50', value: (point) => point.p50_us, class: 's0' },
      ], micros),
      new Chart('errors', 'Failed, late and dropped per second', [
        { name: 'failed', value: (point) => point.failed / line(point), class: 's1' },
        { name: 'late', value: (point) => point.late / line(point), class: 's2' },
        { name: 'dropped', value: (point) => point.dropped / line(point), class: 's3' },
      ], rate),
      new Chart('users', 'Users and connections', [
        { name: 'connections', value: (point) => point.connections, class: 's0' },
        { name: 'users', value: (point) => point.users, class: 's1' },
      ], count),
    ];
    this.parts = {};
    for (const name of ['head', 'problem', 'thresholds', 'numbers', 'findings', 'steps', 'hosts', 'events']) this.parts[name] = el('div');
    const { head, problem, thresholds, numbers, findings, steps, hosts, events } = this.parts;
    this.controls = new Controls(this);
    // It stays, so that it keeps the focus.
    this.stepRegion = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Steps so far' });
    this.coreList = el('ul', { class: 'cores', 'aria-label': 'Busy share of each CPU of this host' });
    const machine = el('div', {}, el('h2', {}, 'CPUs of this host'), this.coreList);
    this.body = [thresholds, numbers, this.controls.element, el('div', { class: 'charts' }, this.charts.map((chart) => chart.element)), findings, steps, hosts, machine, events];
    place.replaceChildren(head, problem, ...this.body);
  }

  start() {
    this.show(this.state);
    this.connect();
    this.loadHistory();
    this.showCores();
    this.timers.push(setTimeout(() => this.showCores(), CORES_FIRST_MS), setInterval(() => this.showCores(), CORES_MS), setInterval(() => this.checkSilence(), 1_000));
    this.onVisible = () => document.visibilityState === 'visible' && this.checkSilence();
    document.addEventListener('visibilitychange', this.onVisible);
    LiveRun.current = this;
    return { close: () => this.close() };
  }

  close() {
    this.isClosed = true;
    this.source?.close();
    this.timers.forEach(clearInterval);
    this.charts.forEach((chart) => chart.close());
    document.removeEventListener('visibilitychange', this.onVisible);
  }

  connect() {
    this.source?.close();
    this.source = new EventSource(`/api/runs/${encodeURIComponent(this.id)}/live`);
    this.tried = performance.now();
    this.source.onmessage = (event) => {
      this.last = performance.now();
      this.tried = this.last;
      this.receive(JSON.parse(event.data));
    };
    this.source.addEventListener('ended', () => this.end());
  }

  /** Connects again after a sleep or a cut. The run itself goes on meanwhile. */
  checkSilence() {
    const silent = performance.now() - this.last;
    if (this.isClosed || silent < SILENT_MS || performance.now() - this.tried < SILENT_MS) return;
    showProblem(this.parts.problem, { error: `no news of the run for ${seconds(silent / 1_000)}; connecting again`, hint: 'the run goes on without this page' });
    this.connect();
  }

  /** Loads the intervals that this page has not seen. */
  async loadHistory() {
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      const { points } = await request(`/api/runs/${encodeURIComponent(this.id)}/history`);
      const later = this.points.all.filter((point) => points.length === 0 || point.from_s >= points.at(-1).from_s + points.at(-1).length_s - 0.5);
      this.points.reset(points);
      later.forEach((point) => this.points.add(point));
      this.drawCharts();
    } catch {
      // The charts then start with the first state that this page received.
    }
    this.isLoading = false;
  }

  receive(state) {
    showProblem(this.parts.problem, null);
    const latest = state.latest;
    const from = state.at_s - latest.length_s;
    // The moments before the load would look like a load of zero.
    const isBefore = state.at_s <= 0 && latest.offered_per_s === 0 && latest.done_per_s === 0;
    if (latest.length_s > 0 && state.state !== 'over' && !isBefore) {
      if (this.points.all.length > 0 && from - this.points.end > GAP_S) this.loadHistory();
      this.points.add({
        from_s: from, length_s: latest.length_s, offered_per_s: latest.offered_per_s, done_per_s: latest.done_per_s,
        failed: latest.failed, late: latest.late, dropped: latest.dropped, users: latest.users, connections: latest.connections,
        p50_us: latest.response_us.p50 ?? null, p99_us: latest.response_us.p99 ?? null, max_us: latest.response_us.max ?? null,
      });
    }
    this.show(state);
    if (state.state === 'over') this.end();
  }

  show(state) {
    if (state.state !== this.state.state) announce(`The run is ${state.state}.`);
    this.state = state;
    const { head, thresholds, numbers, findings, steps, hosts, events } = this.parts;
    const phases = state.phases.map((phase) => phase.name).join(' + ');
    const of = state.ends_at_s === undefined ? '' : ` of ${seconds(state.ends_at_s)}`;
    head.replaceChildren(
      el('h1', {}, state.name || state.id),
      el('p', {}, el('span', { class: `badge ${state.state}` }, state.state), ` ${seconds(state.at_s)}${of}${phases ? ` · phase ${phases}` : ''}${state.modified ? ' · load modified' : ''}`),
      state.ends_at_s > 0 ? el('progress', { max: state.ends_at_s, value: Math.max(0, Math.min(state.at_s, state.ends_at_s)), 'aria-label': 'Time of the plan that has passed' }) : '',
      el('p', { class: 'soft' }, `${state.target} · ${state.load} · ${state.search ? 'search' : 'run'} ${state.id}`),
      state.search ? searchPart(state.search) : '');
    thresholds.replaceChildren(...thresholdParts(state));
    numbers.replaceChildren(numberTiles(state), el('p', { class: 'soft small' }, '≈: fewer than ten requests were slower, so the percentile is uncertain'));
    this.drawCharts();
    this.controls.update(state);
    fill(findings, 'Findings so far', state.findings.length > 0 && el('ul', { class: 'remarks' }, state.findings.map((one) => el('li', { class: one.decisive ? 'error' : 'warning' }, one.message, one.hint ? el('div', { class: 'soft small' }, one.hint) : ''))));
    if (state.steps.length > 1) {
      if (!steps.hasChildNodes()) steps.append(el('h2', {}, 'Steps so far'), this.stepRegion);
      this.stepRegion.replaceChildren(stepTable(state.steps));
    }
    fill(hosts, (state.agents ?? []).length > 0 ? 'Agents and hosts' : 'Hosts', hostList(state));
    fill(events, 'Events', eventList(state));
  }

  drawCharts() {
    const marks = (this.state.changes ?? []).map((change) => change.at_s);
    this.charts.forEach((chart) => chart.update(this.points.all, marks));
  }

  async showCores() {
    const reply = await request('/api/host').catch(() => null);
    if (!reply || this.isClosed) return;
    const before = this.cores;
    this.cores = reply.cores;
    if (!before || before.length !== reply.cores.length) return;
    this.coreList.replaceChildren(...reply.cores.map(([busy, all], at) => {
      const share = all > before[at][1] ? (busy - before[at][0]) / (all - before[at][1]) : 0;
      const name = `CPU ${at}: ${Math.round(share * 100)} %`;
      return el('li', {}, el('div', {}, name), el('meter', { min: 0, max: 1, high: 0.9, optimum: 0.2, value: share, 'aria-label': name }));
    }));
  }

  /** The stored result. The process that sent the last state may need a moment to end. */
  async stored() {
    for (let attempt = 0; attempt < ENDING_ATTEMPTS; attempt += 1) {
      const reply = await request(`/api/runs/${encodeURIComponent(this.id)}`).catch(() => null);
      if (!reply?.running) return reply?.stored ?? reply?.search;
      await new Promise((resolve) => setTimeout(resolve, ENDING_MS));
    }
    return null;
  }

  /** Shows the result. The charts stay. */
  async end() {
    if (this.isClosed || this.isEnded) return;
    this.isEnded = true;
    this.source?.close();
    this.timers.forEach(clearInterval);
    document.removeEventListener('visibilitychange', this.onVisible);
    showProblem(this.parts.problem, null);
    this.controls.element.hidden = true;
    const isStored = await this.stored();
    // The last state may not have arrived here, e.g. on a busy host. The archive has the verdict.
    const status = this.state.verdict?.status ?? isStored?.verdict;
    const headline = this.state.verdict?.headline ?? 'the report says why';
    const box = el('div');
    if (status) {
      box.append(el('p', { class: status === 'pass' ? 'notice' : 'problem', role: 'status' }, `${status.toUpperCase()}: ${headline}`));
      announce(`The run is over: ${status}. ${headline}`);
    } else {
      box.append(el('p', { class: 'problem', role: 'status' }, 'The run has ended without a result here; the report shows its sealed seconds.'));
    }
    box.append(isStored
      ? el('p', {}, el('a', { class: 'button', href: `/runs/${encodeURIComponent(isStored.folder)}/report` }, 'Open the report'), ' ', el('a', { href: `#/run/${encodeURIComponent(isStored.folder)}` }, 'Result and downloads'))
      : el('p', { class: 'soft' }, 'The run has no archive in the runs directory of this page, so there is no report here.'));
    this.parts.problem.replaceChildren(box);
  }
}

function fill(place, title, content) {
  place.replaceChildren(...(content ? [el('h2', {}, title), content] : []));
}

const agentBadge = (agent) => el('span', { class: `badge ${agent.state === 'lost' ? 'fail' : agent.state}` }, agent.state);

/** Agents with their states, and what each sampled host does: every CPU, network, sockets, memory. */
function hostList(state) {
  const hosts = new Map((state.hosts ?? []).map((host) => [host.name, host]));
  const agents = (state.agents ?? []).map((agent) => hostItem(agent.name, agentBadge(agent), hosts.get(agent.name)));
  const isAgent = new Set((state.agents ?? []).map((agent) => agent.name));
  const others = [...hosts.values()].filter((host) => !isAgent.has(host.name)).map((host) => hostItem(host.name, '', host));
  const items = [...agents, ...others];
  return items.length > 0 && el('ul', { class: 'plain hosts' }, items);
}

function hostItem(name, badge, host) {
  if (!host) return el('li', {}, `${name} `, badge);
  const percent = (share) => `${Math.round(share * 100)} %`;
  const facts = [
    host.cpu === undefined ? 'CPU unknown' : `CPU ${percent(host.cpu)}`,
    ...(host.in_bits_per_s === undefined ? [] : [`in ${bytes(host.in_bits_per_s / 8)}`, `out ${bytes(host.out_bits_per_s / 8)}`]),
    `${count(host.tcp_sockets)} TCP sockets`,
    ...(host.memory_bytes > 0 ? [`memory ${percent(host.memory_used_bytes / host.memory_bytes)}`] : []),
  ];
  const core = (share, at) => {
    const label = `CPU ${at} of ${name}: ${percent(share)}`;
    return el('li', { title: label }, el('meter', { min: 0, max: 1, high: 0.9, optimum: 0.2, value: share, 'aria-label': label }));
  };
  return el('li', {}, el('strong', {}, name), ' ', badge, el('span', { class: 'soft' }, ` ${facts.join(' · ')}`),
    (host.cores ?? []).length > 0 && el('ul', { class: 'bars' }, host.cores.map(core)));
}

/** The level in progress, the interval so far, and the finished runs of a search. */
function searchPart(search) {
  const at = (value) => level(search.of, value);
  const now = search.level === undefined ? 'Between two runs' : `Run ${search.runs.length + 1} at ${at(search.level)} (${search.stage})`;
  const range = search.low !== undefined && search.high !== undefined ? `between ${at(search.low)} and ${at(search.high)}`
    : search.low !== undefined ? `at least ${at(search.low)}` : search.high !== undefined ? `at most ${at(search.high)}` : 'not known yet';
  return el('section', { class: 'search', 'aria-label': 'Search' },
    el('p', {}, `${now} · the highest load that passes is ${range}`),
    search.runs.length > 0 && el('ol', { class: 'plain', 'aria-label': 'Finished runs' }, search.runs.map((run) => el('li', {}, `${at(run.level)} `, el('span', { class: `badge ${run.result}` }, run.result)))));
}

function thresholdParts(state) {
  if (state.state === 'starting') return [el('p', { class: 'soft' }, 'No load yet: the run prepares.')];
  const of = (ok) => state.thresholds.filter((one) => (one.ok ?? null) === ok);
  const failing = of(false);
  const undecided = of(null).length > 0 ? `, ${of(null).length} undecided` : '';
  return [
    el('p', {}, `Thresholds so far: ${of(true).length} pass${undecided}${failing.length > 0 ? `, ${failing.length} fail` : ''}`),
    failing.length > 0 ? el('ul', { class: 'remarks' }, failing.map((one) => el('li', { class: 'error' }, `FAIL ${one.expr}${one.why ? `: ${one.why}` : ''}`))) : '',
  ];
}

function numberTiles(state) {
  const { latest, requests } = state;
  const held = state.phases.reduce((sum, phase) => sum + (phase.connections ?? 0), 0);
  const trouble = (value, kind = 'warn') => (value > 0 ? kind : null);
  return tiles([
    ...(held > 0 ? [['held', `${count(latest.connections)} of ${count(held)}`], ['lost so far', count(latest.connections_lost), trouble(latest.connections_lost, 'bad')]] : []),
    ['done, last second', `${rate(latest.done_per_s)}`],
    ['offered, last second', `${rate(latest.offered_per_s)}`],
    ['p50, last second', percentile(latest.response_us, 'p50')],
    ['p99, last second', percentile(latest.response_us, 'p99')],
    ['p99 so far', percentile(state.response_us, 'p99')],
    ['done so far', count(requests.done)],
    ['failed so far', count(requests.failed), trouble(requests.failed, 'bad')],
    ['late so far', count(requests.late), trouble(requests.late)],
    ['dropped so far', count(requests.dropped), trouble(requests.dropped)],
    ['open', count(latest.open)],
    ...(latest.users > 0 || state.phases.some((phase) => phase.users !== undefined) ? [['users', count(latest.users)]] : []),
    ...(held > 0 ? [] : [['connections', count(latest.connections)]]),
    ['received', bytes(latest.received_bytes_per_s)],
    ['busiest load thread', `${Math.round(latest.busiest_thread * 100)} %`, trouble(latest.busiest_thread > 0.9 ? 1 : 0)],
  ]);
}

/** A percentile with few samples above it is marked. */
const percentile = (times, name) => ((times.uncertain ?? []).includes(name) ? '≈ ' : '') + micros(times[name]);

function stepTable(steps) {
  const row = (step) => el('tr', {},
    el('th', { scope: 'row' }, (step.scenario ? `${step.scenario} · ` : '') + step.name),
    [rate(step.done_per_s), count(step.requests.done), count(step.requests.failed), micros(step.response_us.p50), micros(step.response_us.p99)]
      .map((text) => el('td', { class: 'number' }, text)));
  return el('table', {},
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Step'), ['done, last second', 'done', 'failed', 'p50', 'p99'].map((name) => el('th', { scope: 'col', class: 'number' }, name)))),
    el('tbody', {}, steps.map(row)));
}

function eventList(state) {
  const events = (state.events ?? []).map((event) => ({ at: event.at_s, text: event.text }));
  return events.length > 0 && el('ul', { class: 'plain' }, events.reverse().map((event) => el('li', {}, el('span', { class: 'soft' }, `${seconds(event.at)} `), event.text)));
}

/** The kind of load of a phase that can be changed; `null` if none can. */
const kindOf = (phase) => (phase.rate_per_s !== undefined ? 'rate' : phase.users !== undefined ? 'users' : phase.connections !== undefined ? 'connections' : null);

/** Stop, another load, an event. */
class Controls {
  constructor(view) {
    this.view = view;
    this.reply = el('div', { role: 'status' });
    this.kind = null;
    this.load = el('input', { id: 'load', size: '10', autocomplete: 'off' });
    this.loadLabel = el('label', { for: 'load' });
    this.phase = el('select', { id: 'phase', onchange: () => this.choosePhase() });
    this.phaseField = el('div', { class: 'field', hidden: true }, el('label', { for: 'phase' }, 'Phase'), this.phase);
    this.loadForm = el('form', { class: 'row', hidden: true, onsubmit: (event) => this.setLoad(event) },
      this.phaseField, el('div', { class: 'field' }, this.loadLabel, this.load), el('button', {}, 'Change the load'));
    this.text = el('input', { id: 'event', size: '24', autocomplete: 'off', maxlength: '200' });
    const eventForm = el('form', { class: 'row', onsubmit: (event) => this.mark(event) },
      el('div', { class: 'field' }, el('label', { for: 'event' }, 'Mark the time with a text'), this.text), el('button', {}, 'Add the event'));
    this.dialog = el('dialog', { 'aria-labelledby': 'stop-title' },
      el('h2', { id: 'stop-title' }, 'Stop the run?'),
      el('p', {}, 'No new work starts. The run then reports, with the verdict INCOMPLETE.'),
      el('div', { class: 'actions' },
        el('button', { type: 'button', class: 'danger', onclick: () => this.stop(false) }, 'Stop and let open requests end'),
        el('button', { type: 'button', class: 'danger', onclick: () => this.stop(true) }, 'Stop now and cut open requests'),
        el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Go on')));
    const stop = el('button', { type: 'button', class: 'danger', onclick: () => this.dialog.showModal() }, 'Stop the run …');
    this.element = el('section', { class: 'controls', 'aria-label': 'Control of the run' },
      el('div', { class: 'forms' }, this.loadForm, eventForm, el('p', {}, stop)),
      this.note = el('p', { class: 'soft small', hidden: true }), this.reply, this.dialog);
  }

  /** Offers what the active phase can take. */
  update(state) {
    const phases = state.search ? [] : state.phases.filter((phase) => kindOf(phase) !== null);
    const isFixed = phases.length === 0;
    this.loadForm.hidden = isFixed || state.state !== 'running';
    this.note.textContent = state.search ? 'A search chooses its own load.' : state.state === 'running' && isFixed ? 'The active phase has no load that can be changed.' : '';
    this.note.hidden = this.note.textContent === '';
    const names = phases.map((phase) => phase.name);
    if (isFixed || names.join('\n') === this.names) return;
    this.names = names.join('\n');
    this.phases = phases;
    this.phase.replaceChildren(...names.map((name) => el('option', {}, name)));
    this.phaseField.hidden = phases.length === 1;
    this.choosePhase();
  }

  /** Offers the load of the chosen phase. */
  choosePhase() {
    const phase = this.phases[Math.max(0, this.phase.selectedIndex)];
    this.kind = kindOf(phase);
    const texts = { rate: 'New rate of phase', users: 'New number of users of phase', connections: 'New number of connections of phase' };
    this.loadLabel.textContent = `${texts[this.kind]} ${phase.name}${this.kind === 'rate' ? ', e.g. 2k/s' : ''}`;
    this.load.value = this.kind === 'rate' ? `${phase.rate_per_s}/s` : `${phase[this.kind]}`;
  }

  async send(path, body) {
    try {
      const reply = await request(`/api/runs/${encodeURIComponent(this.view.id)}/${path}`, body);
      this.reply.replaceChildren(el('p', { class: 'notice' }, reply.accepted));
      return true;
    } catch (thrown) {
      showProblem(this.reply, asProblem(thrown));
      return false;
    }
  }

  setLoad(event) {
    event.preventDefault();
    return this.send('set', { kind: this.kind, value: this.load.value, phase: this.phase.value });
  }

  async mark(event) {
    event.preventDefault();
    if (await this.send('event', { text: this.text.value })) this.text.value = '';
  }

  stop(now) {
    this.dialog.close();
    return this.send('stop', { now });
  }
}
