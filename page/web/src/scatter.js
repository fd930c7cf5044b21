// RTT and goodput over distance. A cloud pair has its colour and its shape; pairs
// that failed are crosses at the foot. Hovering names all pairs nearby, not only
// the topmost.
import {echarts} from './echarts.js';
import {fate, groupTitle} from './data.js';
import {make} from './dom.js';
import {shapes} from './shapes.js';
import {figures} from './say.js';
import {hideTip, showTip} from './tip.js';
import {milliseconds, rate, thousands} from './units.js';

const near = 9; // px
const named = 6; // pairs in the box
const wide = 660; // px, from which both panels stand side by side
const panels = [
  {key: 'rtt', title: 'RTT', text: milliseconds, type: 'value'},
  {key: 'bps', title: 'Goodput (logarithmic)', text: rate, type: 'log'},
];

export class Scatter {
  constructor(root, facts, theme, open) {
    Object.assign(this, {root, facts, theme, open});
    this.box = make('div', {class: 'chart scatter', role: 'img', 'aria-label': 'RTT and goodput of pairs over great-circle distance. The table of pairs has the same figures.'});
    this.key = make('div', {class: 'legend'});
    root.append(this.key, this.box);
    this.#legend();
    this.#listen();
    this.box.labelBoxes = () => labelBoxes(this.chart);
    new ResizeObserver(() => this.#resize()).observe(this.box);
  }

  update(shown) {
    this.shown = shown;
    this.paint();
  }

  paint() {
    if (!this.shown) return;
    this.chart ??= echarts.init(this.box, null, {renderer: 'canvas', devicePixelRatio: Math.max(2, devicePixelRatio)});
    this.chart.setOption(this.#option(), {notMerge: true, silent: true});
    this.places = null;
    this.width = this.box.clientWidth;
  }

  print(on) {
    this.printing = on;
    this.box.classList.toggle('printing', on);
    this.chart.resize();
    this.paint();
    this.chart.getZr().flush();
  }

  #resize() {
    if (!this.chart || this.width === this.box.clientWidth) return;
    this.chart.resize();
    this.paint();
  }

  #legend() {
    const {groups, pairs} = this.facts;
    const used = groups.filter((_, g) => pairs.group.includes(g));
    this.key.append(...used.map((name) => {
      const g = groups.indexOf(name);
      return make('span', {class: 'item'}, make('i', {class: `mark g${g % 9}`, 'aria-hidden': 'true'}), groupTitle(name));
    }), make('span', {class: 'item'}, make('i', {class: 'cross', 'aria-hidden': 'true'}), 'failed'),
    make('span', {class: 'item'}, make('i', {class: 'stroke fibre', 'aria-hidden': 'true'}), 'light in fibre'),
    make('span', {class: 'item'}, make('i', {class: 'stroke fit', 'aria-hidden': 'true'}), 'least squares, all rows'));
  }

  #option() {
    const side = this.box.clientWidth >= wide;
    const ink = this.theme.colour('ink-2');
    const rule = this.theme.colour('rule');
    const top = Math.max(1000, ...this.facts.pairs.km.filter((km) => km >= 0));
    const text = {color: ink, fontFamily: 'system-ui, sans-serif', fontSize: 12};
    const series = [...this.#marks(), ...panels.flatMap((panel, at) => this.#lines(panel, at, top))];
    return {
      animation: false, textStyle: text,
      grid: side ? [{left: 62, right: '53%', top: 34, bottom: 44}, {left: '56%', right: 26, top: 34, bottom: 44}]
        : [{left: 66, right: 16, top: 34, height: 250}, {left: 66, right: 16, top: 368, height: 250}],
      xAxis: panels.map((_, at) => ({gridIndex: at, type: 'value', min: 0, max: Math.ceil(top / 1000) * 1000, name: 'great-circle distance, km', nameLocation: 'middle', nameGap: 28, nameTextStyle: text,
        splitNumber: 4, axisLabel: {color: ink, formatter: thousands, hideOverlap: true}, axisLine: {lineStyle: {color: rule}}, axisTick: {show: false}, splitLine: {show: false}})),
      yAxis: panels.map((panel, at) => ({gridIndex: at, type: panel.type, ...this.#range(panel), name: panel.title, nameLocation: 'end', nameGap: 14, nameTextStyle: {...text, align: 'left', padding: [0, 0, 0, -50], fontWeight: 600, color: this.theme.colour('ink')},
        axisLabel: {color: ink, formatter: (v) => short(panel, v)}, axisLine: {show: false}, axisTick: {show: false}, splitLine: {lineStyle: {color: rule}}})),
      series,
    };
  }

  #marks() {
    return panels.flatMap((panel, at) => [...this.#points(panel, at), this.#failed(panel, at)]);
  }

  #range(panel) {
    this.ranges ??= panels.map((p) => this.#measure(p));
    return this.ranges[panels.indexOf(panel)];
  }

  #measure(panel) {
    const values = this.facts.pairs[panel.key].filter((v) => v > 0);
    if (panel.type === 'value') return {min: 0};
    if (!values.length) return {min: 1e6, max: 1e9};
    const low = values.reduce((a, b) => Math.min(a, b));
    const high = values.reduce((a, b) => Math.max(a, b));
    return {min: 10 ** Math.floor(Math.log10(low) - 0.05), max: 10 ** Math.ceil(Math.log10(high))};
  }

  #points(panel, at) {
    const {pairs, groups} = this.facts;
    const data = groups.map(() => []);
    for (let i = 0; i < this.facts.n; i++) {
      if (this.#drawn(i) && pairs[panel.key][i] > 0) data[pairs.group[i]].push([pairs.km[i], pairs[panel.key][i]]);
    }
    const {n} = this.facts;
    const size = Math.max(4.5, 10 * (50 / Math.max(n, 50)) ** 0.2);
    return data.map((points, g) => ({type: 'scatter', xAxisIndex: at, yAxisIndex: at, data: points, symbol: shapes[g % 9].symbol, symbolRotate: shapes[g % 9].turn, symbolSize: size,
      // ECharts' fast way for many points makes a hundred MB of them on paper.
      large: n > 1500 && !this.printing, largeThreshold: 1, silent: true, progressive: 0, itemStyle: {color: this.theme.colour(`g${g % 9}`), opacity: n > 500 ? 0.6 : 0.85}})).filter((s) => s.data.length);
  }

  #drawn(i) {
    const {from, to, km} = this.facts.pairs;
    return this.shown[i] && from[i] !== to[i] && km[i] >= 0;
  }

  #failed(panel, at) {
    const {min} = this.#range(panel);
    const data = [];
    for (let i = 0; i < this.facts.n; i++) {
      if (this.#drawn(i) && fate(this.facts, i) === 'failed') data.push([this.facts.pairs.km[i], min]);
    }
    return {type: 'scatter', xAxisIndex: at, yAxisIndex: at, data, clip: false, silent: true, z: 5, symbol: shapes.cross, symbolSize: 9, itemStyle: {color: 'transparent', borderColor: this.theme.colour('bad'), borderWidth: 1.8}};
  }

  #lines(panel, at, top) {
    const {lines} = this.facts;
    const line = (data, colour, type) => ({type: 'line', xAxisIndex: at, yAxisIndex: at, data, silent: true, symbol: 'none', z: 4, lineStyle: {color: this.theme.colour(colour), width: 1.8, type}});
    const out = [];
    if (panel.key === 'rtt') out.push(line([[0, 0], [top, top * lines.fibre_ms_per_km]], 'ink', [2, 4]));
    const fit = panel.key === 'rtt' ? lines.rtt : lines.log10_bps;
    if (!fit) return out;
    const y = (km) => fit.intercept + fit.slope_per_km.value * km;
    const ends = [[0, y(0)], [top, y(top)]];
    out.push(line(panel.key === 'rtt' ? ends : ends.map(([km, v]) => [km, 10 ** v]), 'ink', [7, 4]));
    return out;
  }

  #listen() {
    this.box.addEventListener('pointermove', (event) => {
      const close = this.#nearby(event);
      this.box.classList.toggle('over', close.length > 0);
      if (!close.length) return hideTip();
      showTip(event.clientX, event.clientY, ...this.#words(close));
    });
    this.box.addEventListener('pointerleave', hideTip);
    this.box.addEventListener('click', (event) => {
      const [first] = this.#nearby(event);
      if (first !== undefined) this.open(first);
    });
  }

  #words(close) {
    const {regions, pairs} = this.facts;
    const lines = close.slice(0, named).map((i) => make('p', {}, make('b', {}, `${regions[pairs.from[i]].id} → ${regions[pairs.to[i]].id}`), make('br'), figures(this.facts, i)));
    if (close.length > named) lines.push(make('p', {}, `and ${close.length - named} more here`));
    return lines;
  }

  // nearby returns pairs close to the pointer, the closest first.
  #nearby(event) {
    if (!this.chart) return [];
    this.places ??= this.#positions();
    const box = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = new Map();
    for (const {i, px, py} of this.places) {
      const d = Math.hypot(px - x, py - y);
      if (d <= near && d < (found.get(i) ?? Infinity)) found.set(i, d);
    }
    return [...found].sort((a, b) => a[1] - b[1]).map(([i]) => i);
  }

  // positions works out where points are from two of each panel: the axes are
  // linear, or logarithmic.
  #positions() {
    const {pairs, n} = this.facts;
    const out = [];
    panels.forEach((panel, at) => {
      const scale = (v) => (panel.type === 'log' ? Math.log10(v) : v);
      const {min} = this.#range(panel);
      const [one, ten] = [[0, min || 1], [1000, (min || 1) * 10]].map((v) => this.chart.convertToPixel({gridIndex: at}, v));
      const [low, high] = [scale(min || 1), scale((min || 1) * 10)];
      for (let i = 0; i < n; i++) {
        if (!this.#drawn(i)) continue;
        const v = fate(this.facts, i) === 'failed' ? min : pairs[panel.key][i];
        if (!(v >= 0)) continue;
        out.push({i, px: one[0] + (pairs.km[i] / 1000) * (ten[0] - one[0]), py: one[1] + ((scale(v) - low) / (high - low)) * (ten[1] - one[1])});
      }
    });
    return out;
  }
}

// short leaves an axis label without digits that say nothing.
function short(panel, v) {
  if (v === 0) return '0';
  return panel.text(v).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
}

// labelBoxes says where the chart's texts are, for a test that none is on another.
function labelBoxes(chart) {
  return chart.getZr().storage.getDisplayList(true).filter((e) => e.type === 'tspan').map((e) => {
    const box = e.getBoundingRect().clone();
    if (e.transform) box.applyTransform(e.transform);
    return {text: e.style.text, left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height};
  });
}
