// Numbers as the terminal view shows them, and elements made from them. All text becomes text
// nodes, so that no name of a run or a file can become markup.

const three = (value) => {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
};

/** A count with a comma between groups of three digits. */
export const count = (value) => Math.round(value ?? 0).toString().replace(/\B(?=(\d{3})+$)/g, ',');

/** A rate per second. */
export const rate = (value) => (value >= 10_000 ? count(value) : three(value ?? 0)) + '/s';

/** A time in microseconds. */
export function micros(value) {
  if (value === null || value === undefined) return '–';
  if (value < 1_000) return `${three(value)} µs`;
  return value < 1_000_000 ? `${three(value / 1_000)} ms` : `${three(value / 1_000_000)} s`;
}

/** Bytes per second. */
export function bytes(value) {
  const units = ['B/s', 'kB/s', 'MB/s', 'GB/s'];
  let at = 0;
  for (; value >= 1_000 && at < units.length - 1; at += 1) value /= 1_000;
  return `${three(value)} ${units[at]}`;
}

/** A level of a search: a rate, or a number of users or connections. */
export const level = (of, value) => (of === 'rate' ? `${count(value)}/s` : `${count(value)} ${of}`);

/** A length or an instant of a run in seconds. */
export function seconds(value) {
  if (value === null || value === undefined) return '–';
  const sign = value < 0 ? '−' : '';
  const whole = Math.round(Math.abs(value));
  if (whole < 120) return `${sign}${whole} s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const parts = hours > 0 ? [[hours, 'h'], [minutes, 'min']] : [[minutes, 'min'], [rest, 's']];
  return sign + parts.filter(([value]) => value > 0).map(([value, unit]) => `${value} ${unit}`).join(' ');
}

/** The wall time of a run, in the browser's zone. */
export function when(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? 'unknown' : time.toLocaleString();
}

/**
 * Makes an element. Properties that start with `on` are listeners, others are attributes; `null`
 * and `false` leave an attribute out.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  set(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Makes an element of a picture. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(element, attributes);
  element.append(...children);
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
}

/** Shows one problem, or removes the earlier one. */
export function showProblem(place, problem) {
  place.replaceChildren(...(problem ? [
    el('p', { class: 'problem', role: 'alert' }, problem.error),
    problem.hint ? el('p', { class: 'hint' }, problem.hint) : '',
  ] : []));
}

/** Sends a request; throws `{error, hint}` if it is refused. */
export async function request(path, body) {
  const change = body === undefined ? {} : {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-wavetank': '1' },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, change);
  } catch {
    throw { error: 'the server of this page does not respond', hint: 'check that `wavetank ui` still runs; runs go on without it' };
  }
  const reply = await response.json().catch(() => ({ error: `the server replied with status ${response.status}`, hint: 'reload the page' }));
  if (!response.ok) throw reply;
  return reply;
}

/** Makes any exception a problem to show. */
export const asProblem = (thrown) => (thrown?.error ? thrown : { error: `the page failed: ${thrown}`, hint: 'reload the page' });

/** Announces a sentence to screen readers. */
export function announce(text) {
  const place = document.getElementById('live');
  if (place.textContent !== text) place.textContent = text;
}
