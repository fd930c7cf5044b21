// The matrix of regions: a grid of squares that move by transform, which is what
// makes sorting 6,000 of them smooth. A square's colour is its pair's band; the
// figure is said when it has the pointer or the focus.
import {bandsOf, metrics} from './bands.js';
import {fate, pairOf} from './data.js';
import {choice, make, select, textWidth} from './dom.js';
import {legend} from './legend.js';
import {orders, sorted} from './orders.js';
import {describe} from './say.js';
import {printWidth} from './paper.js';
import {hideTip, showTip} from './tip.js';

const largest = 52; // px, of a square
const smallest = 12;
const numbered = 44; // from this size there is room for the figure

export class Matrix {
  constructor(root, facts, open) {
    Object.assign(this, {root, facts, open, metric: metrics.rtt, shown: new Uint8Array(facts.n).fill(1)});
    this.orders = orders(facts);
    this.order = sorted(facts, this.orders[0][2]);
    this.at = [0, 0]; // row and column that have the focus, as places
    this.#build();
    new ResizeObserver(() => this.#size()).observe(root);
  }

  update(shown) {
    this.shown = shown;
    this.#colour();
    this.#place();
  }

  print(on) {
    this.printing = on;
    this.#size();
  }

  #build() {
    const {root, facts} = this;
    const bar = make('div', {class: 'bar'},
      choice('matrix-metric', 'Colour by', [['rtt', 'RTT'], ['bps', 'Goodput']], 'rtt', (value) => {
        this.metric = metrics[value];
        this.#colour();
      }),
      select('Order', this.orders.map(([name, label]) => [name, label]), 'longitude', (name) => this.#sort(name)));
    this.legend = make('div', {class: 'legend'});
    this.live = make('p', {class: 'live', 'aria-live': 'polite'}, 'Point at a square, or walk with the arrow keys. Enter shows a pair’s tests.');
    this.grid = make('div', {role: 'grid', class: 'matrix', 'aria-label': 'Pairs of regions: rows send to columns', 'aria-rowcount': facts.regions.length + 1, 'aria-colcount': facts.regions.length + 1});
    this.#cells();
    this.scroll = make('div', {class: 'matrix-scroll'}, this.grid);
    root.append(bar, this.legend, this.scroll, this.live);
    this.#listen();
    this.#size();
  }

  #cells() {
    const {facts} = this;
    this.heads = facts.regions.map((r) => make('div', {role: 'columnheader', class: 'ch'}, make('span', {}, r.id)));
    this.grid.append(make('div', {role: 'row', class: 'heads'}, make('div', {role: 'columnheader', class: 'corner'}, 'from ↓ to →'), ...this.heads));
    this.cells = [];
    this.rows = facts.regions.map((r, from) => {
      const row = make('div', {role: 'row', class: 'r'}, make('div', {role: 'rowheader', class: 'rh'}, make('span', {}, r.id)));
      facts.regions.forEach((_, to) => {
        const cell = document.createElement('div');
        cell.setAttribute('role', 'gridcell');
        cell.tabIndex = -1;
        cell.ends = [from, to];
        cell.pair = pairOf(facts, from, to);
        this.cells.push(cell);
        row.append(cell);
      });
      return row;
    });
    this.grid.append(...this.rows);
  }

  cell(from, to) {
    return this.cells[from * this.facts.regions.length + to];
  }

  #listen() {
    const {grid} = this;
    grid.addEventListener('pointerover', (event) => {
      const {ends} = event.target.closest('[role=gridcell]') ?? {};
      if (!ends) return hideTip();
      const lines = describe(this.facts, ...ends);
      showTip(event.clientX, event.clientY, ...lines);
      this.#mark(ends);
    });
    grid.addEventListener('pointerleave', () => {
      hideTip();
      this.#mark(null);
    });
    grid.addEventListener('focusin', (event) => this.#focused(event.target));
    grid.addEventListener('click', (event) => this.#enter(event.target));
    grid.addEventListener('keydown', (event) => this.#key(event));
  }

  #focused(cell) {
    if (!cell.ends) return;
    this.tabbed && (this.tabbed.tabIndex = -1);
    cell.tabIndex = 0;
    this.tabbed = cell;
    const words = describe(this.facts, ...cell.ends).join('. ');
    cell.setAttribute('aria-label', words);
    this.live.textContent = words;
    this.#mark(cell.ends);
  }

  // mark makes the names of a pair's regions stand out.
  #mark(ends) {
    this.marked?.forEach((label) => label.classList.remove('on'));
    this.marked = ends && [this.rows[ends[0]].firstChild, this.heads[ends[1]]];
    this.marked?.forEach((label) => label.classList.add('on'));
  }

  #enter(cell) {
    if (cell.pair !== undefined) this.open(cell.pair);
  }

  #key(event) {
    const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e6], End: [0, 1e6], PageUp: [-10, 0], PageDown: [10, 0]};
    if (event.key === 'Enter' || event.key === ' ') this.#enter(event.target);
    else if (steps[event.key] && event.target.ends) this.#walk(event.target.ends, steps[event.key]);
    else return;
    event.preventDefault();
  }

  #walk([from, to], [down, right]) {
    const clamp = (list, place) => list[Math.max(0, Math.min(list.length - 1, place))];
    const row = clamp(this.fromOrder, this.fromOrder.indexOf(from) + down);
    const column = clamp(this.toOrder, this.toOrder.indexOf(to) + right);
    const cell = this.cell(row, column);
    cell.focus({preventScroll: false});
  }

  #sort(name) {
    this.order = sorted(this.facts, this.orders.find((o) => o[0] === name)[2]);
    this.#place();
  }

  // colour gives each square its band.
  #colour() {
    const {facts, metric} = this;
    const values = facts.pairs[metric.key];
    this.bands = bandsOf(values, metric);
    this.legend.replaceChildren(...legend(this.bands, metric));
    for (const cell of this.cells) {
      const name = this.#look(cell.pair, values);
      if (cell.className !== name) cell.className = name;
    }
    this.#numbers();
  }

  #look(pair, values) {
    if (pair === undefined) return 'c none';
    if (!this.shown[pair]) return 'c out';
    if (values[pair] >= 0) return `c b${this.bands.of(values[pair])}`;
    return fate(this.facts, pair) === 'measured' ? 'c none' : `c ${fate(this.facts, pair)}`;
  }

  // place moves rows and squares to where the order and the filters have them.
  #place() {
    const [rowsUsed, columnsUsed] = this.#used();
    this.fromOrder = this.order.filter((r) => rowsUsed[r]);
    this.toOrder = this.order.filter((r) => columnsUsed[r]);
    const column = places(this.facts.regions.length, this.toOrder);
    const row = places(this.facts.regions.length, this.fromOrder);
    this.heads.forEach((head, r) => put(head, column[r], `translateX(${column[r]}00%)`));
    this.rows.forEach((element, r) => put(element, row[r], `translateY(${row[r]}00%)`));
    for (const cell of this.cells) {
      const [from, to] = cell.ends;
      if (row[from] >= 0) put(cell, column[to], `translateX(${column[to]}00%)`);
    }
    this.grid.style.setProperty('--rows', this.fromOrder.length);
    this.grid.style.setProperty('--columns', this.toOrder.length);
    this.#size();
    this.#firstTab();
    this.#readingOrder(row);
  }

  #used() {
    const {from, to} = this.facts.pairs;
    const used = [new Uint8Array(this.facts.regions.length), new Uint8Array(this.facts.regions.length)];
    for (let i = 0; i < this.facts.n; i++) {
      if (!this.shown[i]) continue;
      used[0][from[i]] = 1;
      used[1][to[i]] = 1;
    }
    return used;
  }

  // firstTab lets exactly one square take the focus.
  #firstTab() {
    if (this.tabbed && !this.tabbed.hidden) return;
    if (this.tabbed) this.tabbed.tabIndex = -1;
    this.tabbed = this.fromOrder.length ? this.cell(this.fromOrder[0], this.toOrder[0]) : null;
    if (this.tabbed) this.tabbed.tabIndex = 0;
  }

  // readingOrder puts rows where a screen reader expects them, when there is time
  // and nothing in the grid has the focus, which moving would take.
  #readingOrder(row) {
    this.rows.forEach((element, r) => element.setAttribute('aria-rowindex', row[r] + 2));
    cancelIdle(this.idle);
    this.idle = whenIdle(() => {
      if (this.grid.contains(document.activeElement)) return;
      this.grid.append(...this.fromOrder.map((r) => this.rows[r]));
    });
  }

  #size() {
    if (!this.toOrder) return;
    const n = Math.max(1, this.toOrder.length);
    const label = this.#labelWidth();
    const width = this.printing ? printWidth : this.root.clientWidth;
    const fit = (width - label - 2) / n;
    const cell = this.printing ? Math.min(largest, fit) : Math.max(smallest, Math.min(largest, Math.floor(fit)));
    const {style} = this.grid;
    style.setProperty('--cell', `${cell}px`);
    style.setProperty('--label', `${label}px`);
    style.setProperty('--font', `${Math.min(12, Math.max(5, cell - (this.printing ? 0.6 : 1.5)))}px`);
    if (this.numbered !== cell >= numbered) {
      this.numbered = cell >= numbered;
      this.#numbers();
    }
  }

  #labelWidth() {
    const font = this.toOrder.length > 40 ? 10.5 : 12;
    this.longest ??= Math.max(...this.facts.regions.map((r) => textWidth(r.id, 100, 700))) / 100;
    return Math.ceil((this.printing ? Math.min(font, 6.5) : font) * this.longest) + 10;
  }

  #numbers() {
    if (!this.numbered && !this.written) return;
    this.written = this.numbered;
    const values = this.facts.pairs[this.metric.key];
    for (const cell of this.cells) {
      const {pair} = cell;
      const text = this.numbered && pair !== undefined && values[pair] >= 0 ? this.metric.text(values[pair]) : '';
      cell.textContent = text.replace(/ ms$| ?bit\/s$/, '');
    }
  }
}

// places inverts an order; -1 for what is not in it.
function places(n, order) {
  const place = new Int32Array(n).fill(-1);
  order.forEach((r, i) => {
    place[r] = i;
  });
  return place;
}

function put(element, place, transform) {
  if (element.hidden !== place < 0) element.hidden = place < 0;
  if (place >= 0 && element.moved !== transform) {
    element.style.transform = transform;
    element.moved = transform;
  }
}

const whenIdle = (f) => (window.requestIdleCallback ?? setTimeout)(f);
const cancelIdle = (id) => (window.cancelIdleCallback ?? clearTimeout)(id);
