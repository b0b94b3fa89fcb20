// Line charts over the time of a run. Points are joined when there are many, so that a run of any
// length needs the same memory.

import { el, seconds, svg } from './format.js';

const POINTS_MAX = 600;
const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [64, 10, 10, 22, 180];
const TABLE_ROWS = 60;
/** So that the highest value is not on the upper edge. */
const HEADROOM = 1.05;

/** The points of all charts of a run. */
export class Points {
  constructor() {
    this.all = [];
    /** Sealed intervals in a point. */
    this.group = 1;
    this.inLast = 0;
  }

  /** The end of the last interval, in seconds on the run's clock. */
  get end() {
    const last = this.all.at(-1);
    return last ? last.from_s + last.length_s : -Infinity;
  }

  /** Replaces all points by those of a stored history. */
  reset(points) {
    this.all = points;
    const lengths = points.map((point) => point.length_s).sort((a, b) => a - b);
    this.group = Math.max(1, Math.round(lengths[lengths.length >> 1] ?? 1));
    this.inLast = this.group;
  }

  /** Adds an interval; an interval that is there already is ignored. */
  add(point) {
    if (point.from_s < this.end - 0.5) return;
    if (this.inLast > 0 && this.inLast < this.group) {
      this.all.push(join(this.all.pop(), point));
      this.inLast += 1;
    } else {
      this.all.push(point);
      this.inLast = 1;
    }
    if (this.all.length > POINTS_MAX) {
      const joined = [];
      for (let at = 0; at < this.all.length; at += 2) {
        joined.push(at + 1 < this.all.length ? join(this.all[at], this.all[at + 1]) : this.all[at]);
      }
      const isSingle = this.all.length % 2 === 1;
      this.inLast += isSingle ? 0 : this.group;
      this.all = joined;
      this.group *= 2;
    }
  }
}

/** Rates are weighted by time and counts are added. Of percentiles the higher one is kept. */
function join(one, other) {
  const length = one.length_s + other.length_s;
  const mean = (key) => (one[key] * one.length_s + other[key] * other.length_s) / (length || 1);
  const higher = (key) => {
    const known = [one[key], other[key]].filter((value) => value !== null && value !== undefined);
    return known.length > 0 ? Math.max(...known) : null;
  };
  return {
    from_s: one.from_s, length_s: length,
    offered_per_s: mean('offered_per_s'), done_per_s: mean('done_per_s'),
    failed: one.failed + other.failed, late: one.late + other.late, dropped: one.dropped + other.dropped,
    users: other.users, connections: other.connections,
    p50_us: higher('p50_us'), p99_us: higher('p99_us'), max_us: higher('max_us'),
  };
}

/** A round number that is at least `value`, for the upper end of an axis. */
function ceiling(value) {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].find((step) => step * unit >= value) * unit;
}

/** A step that divides a length of time into few parts. */
function timeStep(length, room) {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];
  return steps.find((step) => length / step <= room) ?? 86_400 * Math.ceil(length / 86_400 / room);
}

/** One chart with its key and the table behind it. */
export class Chart {
  /** `series`: `{name, value(point), class}`; `show` formats a value. */
  constructor(id, title, series, show) {
    Object.assign(this, { title, series, show, points: [], marks: [], cursor: null });
    this.plot = svg('svg', { role: 'img', tabindex: '0', 'aria-label': title });
    this.values = series.map(() => el('b'));
    this.time = el('span', { class: 'soft' });
    const key = series.map((one, at) => el('li', {},
      svg('svg', { 'aria-hidden': 'true' }, svg('line', { x1: 0, x2: 26, y1: 4, y2: 4, class: one.class })),
      `${one.name} `, this.values[at]));
    this.table = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table: ${title}` });
    this.details = el('details', { ontoggle: () => this.drawTable() }, el('summary', {}, `Table of “${title}”`), this.table);
    this.element = el('figure', { id }, el('figcaption', {}, title), el('ul', { class: 'key' }, key, el('li', {}, this.time)), this.plot, this.details);
    this.plot.addEventListener('pointermove', (event) => this.point(event));
    this.plot.addEventListener('pointerleave', () => this.move(null));
    this.plot.addEventListener('blur', () => this.move(null));
    this.plot.addEventListener('keydown', (event) => this.key(event));
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.plot);
  }

  /** Shows these points; `marks` are instants with a changed load or an event. */
  update(points, marks, end) {
    Object.assign(this, { points, marks, end });
    this.draw();
    this.drawTable();
  }

  close() {
    this.watcher.disconnect();
  }

  draw() {
    const width = this.plot.clientWidth;
    if (width < 120) return;
    const { points } = this;
    const from = points.length > 0 ? points[0].from_s : 0;
    const to = Math.max(from + 10, points.length > 0 ? points.at(-1).from_s + points.at(-1).length_s : 0);
    const values = points.flatMap((point) => this.series.map((one) => one.value(point) ?? 0));
    const top = ceiling(HEADROOM * values.reduce((most, value) => Math.max(most, value), 0));
    this.x = (at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    this.plot.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    // A count has no halves.
    const shares = this.show(top / 2) === this.show(top) ? [0, 1] : [0, 0.5, 1];
    const parts = shares.flatMap((share) => [
      svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(top * share), y2: y(top * share), class: share === 0 ? 'axis' : 'grid' }),
      svg('text', { x: LEFT - 6, y: y(top * share) + 4, 'text-anchor': 'end' }, this.show(top * share)),
    ]);
    const step = timeStep(to - from, Math.max(2, Math.floor(width / 90)));
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const isLast = this.x(at) > width - RIGHT - 24;
      parts.push(svg('text', { x: isLast ? width - RIGHT : this.x(at), y: HEIGHT - 5, 'text-anchor': isLast ? 'end' : 'middle' }, seconds(at)));
    }
    for (const at of this.marks.filter((at) => at >= from && at <= to)) {
      parts.push(svg('line', { x1: this.x(at), x2: this.x(at), y1: TOP, y2: HEIGHT - BOTTOM, class: 'change' }));
    }
    parts.push(...this.series.map((one) => svg('path', { class: one.class, d: this.path(one, y) })));
    if (this.cursor !== null && points[this.cursor]) {
      const at = this.x(middle(points[this.cursor]));
      parts.push(svg('line', { x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM, class: 'cursor' }));
    }
    this.plot.replaceChildren(...parts);
    this.label();
  }

  /** A line through the points; it is interrupted where there is no value. */
  path(one, y) {
    let isDrawn = false;
    return this.points.map((point) => {
      const value = one.value(point);
      if (value === null || value === undefined) {
        isDrawn = false;
        return '';
      }
      const [verb, x] = [isDrawn ? 'L' : 'M', this.x(middle(point)).toFixed(1)];
      // A point without neighbours is still seen.
      const start = isDrawn ? '' : `M${(this.x(middle(point)) - 1).toFixed(1)} ${y(value).toFixed(1)}L`;
      isDrawn = true;
      return start ? `${start}${x} ${y(value).toFixed(1)}` : `${verb}${x} ${y(value).toFixed(1)}`;
    }).join('');
  }

  label() {
    const point = this.points[this.cursor ?? this.points.length - 1];
    const texts = this.series.map((one) => {
      const value = point ? one.value(point) : null;
      return value === null || value === undefined ? '–' : this.show(value);
    });
    this.values.forEach((place, at) => { place.textContent = texts[at]; });
    const joined = point && point.length_s > 1.5 ? `, ${seconds(point.length_s)} joined` : '';
    this.time.textContent = point ? `at ${seconds(point.from_s + point.length_s)}${joined}` : 'no interval yet';
    const described = this.series.map((one, at) => `${one.name} ${texts[at]}`).join(', ');
    this.plot.setAttribute('aria-label', `${this.title}, ${this.time.textContent}: ${described}. Arrow keys move along the time.`);
  }

  move(cursor) {
    if (this.cursor === cursor) return;
    this.cursor = cursor;
    this.draw();
  }

  point(event) {
    const at = event.clientX - this.plot.getBoundingClientRect().left;
    let [best, distance] = [null, Infinity];
    this.points.forEach((point, index) => {
      const away = Math.abs(this.x(middle(point)) - at);
      if (away < distance) [best, distance] = [index, away];
    });
    this.move(best);
  }

  key(event) {
    const last = this.points.length - 1;
    const now = this.cursor ?? last;
    const next = { ArrowLeft: Math.max(0, now - 1), ArrowRight: Math.min(last, now + 1), Home: 0, End: last }[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    this.move(next);
  }

  drawTable() {
    if (!this.details.open) return;
    const rows = this.points.slice(-TABLE_ROWS).reverse().map((point) => el('tr', {},
      el('th', { scope: 'row' }, seconds(point.from_s + point.length_s)),
      this.series.map((one) => {
        const value = one.value(point);
        return el('td', { class: 'number' }, value === null || value === undefined ? '–' : this.show(value));
      })));
    this.table.replaceChildren(el('table', {},
      el('caption', {}, `${this.title}: latest ${rows.length} points, newest first`),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'until'), this.series.map((one) => el('th', { scope: 'col', class: 'number' }, one.name)))),
      el('tbody', {}, rows)));
  }
}

const middle = (point) => point.from_s + point.length_s / 2;
