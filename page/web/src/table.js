// The table of pairs: any number of them, since only the rows in sight exist.
import {download} from './csv.js';
import {fate} from './data.js';
import {make} from './dom.js';
import {kilometres, milliseconds, rate, thousands} from './units.js';

const height = 31; // px, of a row, as in the style sheet
const spare = 12; // rows beyond what is in sight
const printed = 60; // rows on paper

export class PairTable {
  constructor(root, facts, open) {
    Object.assign(this, {root, facts, open, by: 'rtt', down: true});
    this.columns = columns(facts);
    this.body = make('tbody');
    this.said = make('p', {class: 'note'});
    this.heads = this.columns.map((c) => this.#head(c));
    const table = make('table', {class: 'pairs'}, make('caption', {class: 'hidden'}, 'Pairs of regions'), make('thead', {}, make('tr', {}, ...this.heads)), this.body);
    this.table = table;
    this.scroll = make('div', {class: 'virtual', tabIndex: 0, role: 'region', 'aria-label': 'Table of pairs'}, table);
    const button = make('button', {type: 'button'}, 'Download what is shown as CSV');
    button.addEventListener('click', () => download(this.facts, this.shown));
    root.append(make('div', {class: 'bar'}, button, this.said), this.scroll);
    this.scroll.addEventListener('scroll', () => this.#draw());
    this.body.addEventListener('click', (event) => {
      const row = event.target.closest('tr');
      if (row?.pair !== undefined) this.open(row.pair);
    });
  }

  update(shown) {
    this.shown = shown;
    this.#sort();
  }

  print(on) {
    this.printing = on;
    this.#draw(true);
  }

  #head(column) {
    const button = make('button', {type: 'button'}, column.title);
    button.addEventListener('click', () => {
      this.down = this.by === column.key ? !this.down : Boolean(column.number);
      this.by = column.key;
      this.scroll.scrollTop = 0;
      this.#sort();
    });
    return make('th', {scope: 'col', class: column.number ? 'n' : ''}, button);
  }

  #sort() {
    const {value, number} = this.columns.find((c) => c.key === this.by);
    this.list = [];
    for (let i = 0; i < this.facts.n; i++) if (this.shown[i]) this.list.push(i);
    const sign = this.down ? -1 : 1;
    // What has no figure comes last either way.
    const keys = this.list.map((i) => [value(i), i]);
    keys.sort(([a, i], [b, j]) => missing(a) - missing(b) || (number ? sign * (a - b) : sign * (a < b ? -1 : Number(a > b))) || i - j);
    this.list = keys.map(([, i]) => i);
    this.columns.forEach((c, k) => {
      if (c.key === this.by) this.heads[k].setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      else this.heads[k].removeAttribute('aria-sort');
    });
    this.table.setAttribute('aria-rowcount', this.list.length + 1);
    this.#draw(true);
  }

  #draw(anew) {
    const n = this.list.length;
    let first = Math.max(0, Math.floor(this.scroll.scrollTop / height) - spare);
    let last = Math.min(n, first + Math.ceil(this.scroll.clientHeight / height) + 2 * spare);
    if (this.printing) [first, last] = [0, Math.min(n, printed)];
    if (!anew && first === this.first && last === this.last) return;
    Object.assign(this, {first, last});
    const rows = this.list.slice(first, last).map((i, k) => this.#row(i, first + k + 2));
    this.body.replaceChildren(space(first), ...rows, space(this.printing ? 0 : n - last));
    this.said.textContent = this.printing && n > printed ? `The first ${printed} of ${thousands(n)} pairs.` : 'A row opens the pair’s tests.';
  }

  #row(pair, index) {
    const cells = this.columns.map((c) => make('td', {class: c.number ? 'n' : ''}, c.key === 'from' ? make('button', {type: 'button', class: 'link', 'aria-label': `Tests of ${this.#name(pair)}`}, c.text(pair)) : c.text(pair)));
    const row = make('tr', {'aria-rowindex': index, class: fate(this.facts, pair)}, ...cells);
    row.pair = pair;
    return row;
  }

  #name(pair) {
    const {regions, pairs} = this.facts;
    return `${regions[pairs.from[pair]].id} to ${regions[pairs.to[pair]].id}`;
  }
}

const missing = (v) => Number(v === null || v === '' || Number.isNaN(v));

function space(rows) {
  const row = make('tr', {'aria-hidden': 'true', class: 'space'}, make('td'));
  row.firstChild.style.height = `${rows * height}px`;
  return row;
}

function columns(facts) {
  const {pairs: p, regions, lines, limits, flags} = facts;
  const over = (i) => (p.km[i] >= 100 ? p.rtt[i] / (p.km[i] * lines.fibre_ms_per_km) : NaN);
  const named = (i) => flags.filter((_, bit) => p.flags[i] & (1 << bit)).map((f) => f.name).join(', ');
  const tests = (i) => (p.failed[i] + p.skipped[i] ? `${p.ok[i]} of ${p.ok[i] + p.failed[i] + p.skipped[i]}` : `${p.ok[i]}`);
  const column = (key, title, value, text = value, number = false) => ({key, title, value, text, number});
  const all = [
    column('from', 'From', (i) => regions[p.from[i]].id),
    column('to', 'To', (i) => regions[p.to[i]].id),
    column('km', 'Distance', (i) => p.km[i], (i) => kilometres(p.km[i]), true),
    column('rtt', 'RTT', (i) => p.rtt[i], (i) => (p.ok[i] ? milliseconds(p.rtt[i]) : fate(facts, i)), true),
    column('over', 'RTT over fibre', over, (i) => (over(i) >= 0 ? `× ${over(i).toFixed(2)}` : '–'), true),
    column('bps', 'Goodput', (i) => p.bps[i], (i) => rate(p.bps[i]), true),
    column('ok', 'Tests measured', (i) => p.ok[i], tests, true),
  ];
  if (limits.length > 1) all.push(column('limit', 'Limited by', (i) => limits[p.limit[i]]));
  if (p.flags.some((bits) => bits)) all.push(column('flags', 'Flags', named));
  return all;
}
