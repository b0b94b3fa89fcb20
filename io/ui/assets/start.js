// Starts a run from an experiment file: its variables as a form, checked while typing.

import { announce, asProblem, el, request, showProblem } from './format.js';

/** The file is checked this long after the last key. */
const TYPING_MS = 250;
const SETTINGS = [
  ['target', 'Target', 'URL, or NAME=URL; empty: as in the file'],
  ['scale', 'Scale of every rate and count', '1/10; empty: as in the file'],
  ['speed', 'Speed-up of every phase', '20x; empty: as in the file'],
];

/** Shows the form in `place`, with the file that the address names. */
export async function startPage(place, chosen) {
  const { files, folder, cut } = await request('/api/experiments');
  const head = [el('h1', {}, 'Start a run'), el('p', { class: 'soft' }, `Experiment files in ${folder}`)];
  if (files.length === 0) {
    place.replaceChildren(...head, el('p', {}, 'There is no experiment file. ', el('code', {}, 'wavetank new shop.yaml'), ' writes an example; ', el('code', {}, 'wavetank ui --dir DIR'), ' shows another folder.'));
    return {};
  }
  const form = new StartForm();
  const select = el('select', {
    id: 'file',
    onchange: () => {
      history.replaceState(null, '', `#/start/${encodeURIComponent(select.value)}`);
      form.open(select.value);
    },
  },
    el('option', { value: '' }, 'Choose a file'), files.map((file) => el('option', { value: file }, file)));
  place.replaceChildren(...head,
    el('div', { class: 'field' }, el('label', { for: 'file' }, 'Experiment file'), select),
    cut ? el('p', { class: 'soft small' }, `Only the first ${files.length} files are listed.`) : '',
    form.element);
  const first = files.includes(chosen) ? chosen : files.length === 1 ? files[0] : '';
  select.value = first;
  form.open(first);
  return { close: () => form.close() };
}

class StartForm {
  constructor() {
    Object.assign(this, { file: '', variables: [], checks: 0, timer: null, isStarting: false });
    this.fields = el('div', { class: 'grid-form' });
    this.settings = el('div', { class: 'grid-form' }, SETTINGS.map(([name, label, hint]) => field(`set-${name}`, label, hint, '', () => this.typed())));
    this.summary = el('p', { role: 'status' });
    this.remarks = el('ul', { class: 'remarks' });
    this.problem = el('div');
    this.button = el('button', { class: 'primary', disabled: true }, 'Start the run');
    this.variableTitle = el('h2', {}, 'Variables');
    this.element = el('form', { hidden: true, novalidate: true, onsubmit: (event) => this.start(event) },
      this.variableTitle, this.fields, el('h2', {}, 'Settings'), this.settings,
      el('h2', {}, 'Check'), this.summary, this.remarks, this.problem, this.button);
  }

  close() {
    clearTimeout(this.timer);
    this.checks += 1;
  }

  open(file) {
    this.file = file;
    this.element.hidden = file === '';
    this.variables = null;
    this.fields.replaceChildren();
    this.variableTitle.hidden = true;
    if (file !== '') this.check();
  }

  typed() {
    this.button.disabled = true;
    this.checks += 1;
    this.summary.textContent = 'checking …';
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), TYPING_MS);
  }

  values() {
    const value = (id) => document.getElementById(id)?.value ?? '';
    const changed = (this.variables ?? []).map((one, at) => [one, value(`var-${at}`)])
      .filter(([one, text]) => (one.secret ? text !== '' : text !== one.value));
    return {
      file: this.file, set: changed.map(([one, text]) => [one.name, text]),
      target: value('set-target'), scale: value('set-scale'), speed: value('set-speed'),
    };
  }

  async check() {
    this.checks += 1;
    const own = this.checks;
    try {
      const doc = await request('/api/check', this.values());
      if (own !== this.checks) return;
      if (this.variables === null && doc.variables) this.showVariables(doc.variables);
      this.show(doc);
    } catch (thrown) {
      if (own === this.checks) this.show(asProblem(thrown));
    }
  }

  showVariables(variables) {
    this.variables = variables;
    this.variableTitle.hidden = variables.length === 0;
    this.fields.replaceChildren(...variables.map((one, at) => field(`var-${at}`, one.name, one.secret ? 'secret; empty: as in the file' : '', one.secret ? '' : one.value, () => this.typed(), one.secret)));
  }

  show(doc) {
    const isValid = doc.ok === true && (doc.lacking ?? []).length === 0;
    this.button.disabled = !isValid || this.isStarting;
    const remarks = doc.remarks ?? [];
    this.summary.textContent = doc.ok ? `Valid: ${doc.summary}` : 'The run cannot be started with these values.';
    const line = (one) => (one.line ? `line ${one.line}: ` : '');
    const items = remarks.map((one) => [one.severity, line(one) + one.message, one.hint]);
    if (!doc.ok && items.length === 0) items.push(['error', doc.message ?? doc.error, doc.hint]);
    items.push(...(doc.lacking ?? []).map((one) => ['error', `this host lacks: ${one.message}`, one.hint]));
    this.remarks.replaceChildren(...items.map(([kind, text, hint]) => el('li', { class: kind }, `${kind}: ${text}`, hint ? el('div', { class: 'soft small' }, hint) : '')));
    this.markInvalid(isValid, items.map(([, text]) => text).join('\n'));
  }

  /** Marks the fields that an error names. */
  markInvalid(isValid, text) {
    (this.variables ?? []).forEach((one, at) => {
      const input = document.getElementById(`var-${at}`);
      input.setAttribute('aria-invalid', String(!isValid && input.value !== one.value && text.includes(one.name)));
    });
    for (const [name] of SETTINGS) {
      document.getElementById(`set-${name}`).setAttribute('aria-invalid', String(!isValid && text.includes(`--${name}`)));
    }
  }

  async start(event) {
    event.preventDefault();
    if (this.button.disabled) return;
    this.isStarting = true;
    this.button.disabled = true;
    this.button.textContent = 'Preparing the load …';
    announce('The run prepares its load.');
    showProblem(this.problem, null);
    try {
      const { run } = await request('/api/start', this.values());
      location.hash = `#/run/${encodeURIComponent(run)}`;
    } catch (thrown) {
      showProblem(this.problem, asProblem(thrown));
    }
    this.isStarting = false;
    this.button.disabled = false;
    this.button.textContent = 'Start the run';
  }
}

function field(id, label, hint, value, oninput, isSecret) {
  const input = el('input', { id, autocomplete: 'off', spellcheck: 'false', type: isSecret ? 'password' : 'text', oninput, 'aria-describedby': hint ? `${id}-hint` : null });
  input.value = value;
  return el('div', { class: 'field' }, el('label', { for: id }, label), input, hint ? el('span', { id: `${id}-hint`, class: 'soft small' }, hint) : '');
}
