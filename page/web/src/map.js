// The map: great circles of one region's pairs, or of the slowest hundred. All
// of them at once would be a hairball.
import {geoNaturalEarth1, geoPath} from 'd3-geo';
import {feature} from 'topojson-client';
import topology from 'world-atlas/land-110m.json';
import {bandsOf, metrics} from './bands.js';
import {choice, make, select} from './dom.js';
import {place} from './labels.js';
import {legend} from './legend.js';
import {metros} from './metros.js';
import {describe, figures} from './say.js';
import {hideTip, showTip} from './tip.js';
import {count} from './units.js';

const land = feature(topology, topology.objects.land);
const hundred = 100;
const near = 7; // px

export class WorldMap {
  constructor(root, facts, theme, open) {
    Object.assign(this, {root, facts, theme, open, metric: metrics.bps, which: 'slowest'});
    this.canvas = make('canvas', {class: 'map', role: 'img'});
    this.labels = make('div', {class: 'map-labels', 'aria-hidden': 'true'});
    this.legend = make('div', {class: 'legend lines'});
    this.said = make('p', {class: 'note', 'aria-live': 'polite'});
    this.frame = make('div', {class: 'map-frame'}, this.canvas, this.labels);
    root.append(this.#controls(), this.legend, this.frame, this.said);
    this.metros = metros(facts.regions);
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(this.frame);
  }

  update(shown) {
    this.shown = shown;
    this.paint();
  }

  print(on) {
    this.frame.classList.toggle('printing', on);
    this.#resize();
  }

  #controls() {
    const {regions} = this.facts;
    const order = regions.map((_, r) => r).filter((r) => regions[r].lat !== null);
    this.picker = select('Arcs', [['slowest', 'slowest hundred'], ['fastest', 'fastest hundred'],
      ...order.map((r) => [`from:${r}`, `from ${regions[r].id}`])], 'slowest', (value) => this.#show(value));
    return make('div', {class: 'bar'},
      choice('map-metric', 'Colour by', [['bps', 'Goodput'], ['rtt', 'RTT']], 'bps', (value) => {
        this.metric = metrics[value];
        this.paint();
      }), this.picker);
  }

  #show(which) {
    this.which = which;
    this.picker.querySelector('select').value = which;
    this.paint();
  }

  #resize() {
    if (this.shown && this.width !== this.frame.clientWidth) this.paint();
  }

  // chosen are the pairs whose arcs are drawn, the most important last, on top.
  #chosen() {
    const {pairs, n, regions} = this.facts;
    const values = pairs[this.metric.key];
    const all = [];
    for (let i = 0; i < n; i++) {
      const placed = regions[pairs.from[i]].lat !== null && regions[pairs.to[i]].lat !== null;
      if (this.shown[i] && placed && pairs.from[i] !== pairs.to[i] && this.#asked(i)) all.push(i);
    }
    const slow = (i) => (this.metric.slowIsHigh ? values[i] : -values[i]);
    if (this.which.startsWith('from:')) return all.sort((a, b) => (slow(a) || -1e18) - (slow(b) || -1e18));
    const measured = all.filter((i) => values[i] >= 0).sort((a, b) => slow(b) - slow(a));
    if (this.which === 'fastest') measured.reverse();
    return measured.slice(0, hundred).reverse();
  }

  #asked(i) {
    return !this.which.startsWith('from:') || this.facts.pairs.from[i] === Number(this.which.slice(5));
  }

  paint() {
    if (!this.shown) return;
    this.width = this.frame.clientWidth;
    if (!this.width) return; // not in sight: a change of size paints it
    const height = Math.round(this.width * 0.5);
    const scale = Math.max(2, devicePixelRatio);
    Object.assign(this.canvas, {width: this.width * scale, height: height * scale});
    this.canvas.style.height = `${height}px`;
    this.context = this.canvas.getContext('2d');
    this.context.scale(scale, scale);
    this.projection = geoNaturalEarth1().rotate([-11, 0]).fitExtent([[2, 2], [this.width - 2, height - 2]], {type: 'Sphere'});
    this.path = geoPath(this.projection, this.context);
    this.#background(scale, height);
    this.arcs = this.#chosen();
    this.bands = this.#bandsOfArcs();
    this.#arcs();
    this.#dots();
    this.legend.replaceChildren(...legend(this.bands, this.metric, 'line'));
    this.#say();
  }

  // Arcs chosen for what they have in common get bands of their own.
  #bandsOfArcs() {
    const values = this.facts.pairs[this.metric.key];
    return bandsOf(this.which.startsWith('from:') ? values : this.arcs.map((i) => values[i]), this.metric);
  }

  // background is drawn anew only where its size or its colours have changed.
  #background(scale, height) {
    const {context: c, theme} = this;
    const look = [this.width, scale, theme.colour('sea'), theme.colour('land')].join(' ');
    if (this.look !== look) {
      this.look = look;
      this.#world();
      this.world = make('canvas', {width: this.canvas.width, height: this.canvas.height});
      this.world.getContext('2d').drawImage(this.canvas, 0, 0);
      return;
    }
    c.drawImage(this.world, 0, 0, this.width, height);
  }

  #world() {
    const {context: c, path, theme} = this;
    this.#fill({type: 'Sphere'}, theme.colour('sea'));
    this.#fill(land, theme.colour('land'));
    c.beginPath();
    path(land);
    c.lineWidth = 0.6;
    c.strokeStyle = theme.colour('coast');
    c.stroke();
  }

  #fill(shape, colour) {
    this.context.beginPath();
    this.path(shape);
    this.context.fillStyle = colour;
    this.context.fill();
  }

  #arcs() {
    const {context: c, facts: {pairs}} = this;
    const values = pairs[this.metric.key];
    const many = this.arcs.length > 40;
    c.lineCap = 'round';
    for (const i of this.arcs) {
      const measured = values[i] >= 0;
      const band = measured ? this.bands.of(values[i]) : 0;
      c.strokeStyle = this.theme.colour(measured ? `l${band}` : 'bad');
      c.lineWidth = (measured ? 2.8 - band * 0.26 : 1.4) * (many ? 0.75 : 1);
      c.setLineDash(measured ? [] : [2, 5]);
      c.beginPath();
      this.path(this.#arc(i));
      c.stroke();
    }
    c.setLineDash([]);
  }

  // d3 draws it as a great circle and cuts it where the map ends.
  #arc(i) {
    const {pairs, regions} = this.facts;
    const ends = [regions[pairs.from[i]], regions[pairs.to[i]]];
    return {type: 'LineString', coordinates: ends.map((r) => [r.lon, r.lat])};
  }

  #dots() {
    const {context: c, theme} = this;
    const busy = new Set(this.arcs.flatMap((i) => [this.facts.pairs.from[i], this.facts.pairs.to[i]]));
    const from = this.which.startsWith('from:') ? Number(this.which.slice(5)) : -1;
    this.spots = this.metros.map((m) => {
      const [x, y] = this.projection([m.lon, m.lat]);
      const important = m.regions.includes(from) ? 2 : m.regions.some((r) => busy.has(r)) ? 1 : 0;
      return {...m, x, y, important, radius: m.regions.includes(from) ? 6 : 3.6};
    });
    for (const spot of [...this.spots].sort((a, b) => a.important - b.important)) {
      c.beginPath();
      c.arc(spot.x, spot.y, spot.radius, 0, 2 * Math.PI);
      c.fillStyle = theme.colour(spot.important ? 'ink' : 'ink-2');
      c.fill();
      c.lineWidth = 1.4;
      c.strokeStyle = theme.colour('land');
      c.stroke();
    }
    place(this.labels, this.spots, this.width, this.canvas.height / Math.max(2, devicePixelRatio));
  }

  #say() {
    const {regions} = this.facts;
    const unplaced = regions.filter((r) => r.lat === null).length;
    const failed = this.arcs.filter((i) => !(this.facts.pairs[this.metric.key][i] >= 0)).length;
    const parts = [`${count(this.arcs.length, 'arc')}.`];
    if (failed) parts.push(`Dotted: ${failed} without a figure.`);
    if (unplaced) parts.push(`${count(unplaced, 'region')} not on the map: nobody told where.`);
    parts.push('Wider lines are slower. A click on a region shows its arcs, a click on an arc its tests.');
    this.said.textContent = parts.join(' ');
    this.canvas.setAttribute('aria-label', `World map with ${this.arcs.length} great-circle arcs, coloured by ${this.metric.title}`);
  }

  #listen() {
    this.canvas.addEventListener('pointermove', (event) => {
      const {spot, arc} = this.#under(event);
      this.canvas.classList.toggle('over', Boolean(spot) || arc !== undefined);
      if (spot) showTip(event.clientX, event.clientY, ...spot.regions.map((r) => `${this.facts.regions[r].id}${this.facts.regions[r].place ? `, ${this.facts.regions[r].place}` : ''}`));
      else if (arc !== undefined) showTip(event.clientX, event.clientY, describe(this.facts, this.facts.pairs.from[arc], this.facts.pairs.to[arc])[0], figures(this.facts, arc));
      else hideTip();
    });
    this.canvas.addEventListener('pointerleave', hideTip);
    this.canvas.addEventListener('click', (event) => {
      const {spot, arc} = this.#under(event);
      if (spot) this.#show(`from:${this.#next(spot)}`);
      else if (arc !== undefined) this.open(arc);
    });
  }

  // next goes round the regions of a metro, click by click.
  #next(spot) {
    const now = spot.regions.indexOf(Number(this.which.slice(5)));
    return spot.regions[(now + 1) % spot.regions.length];
  }

  #under(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const spot = this.spots?.find((s) => Math.hypot(s.x - x, s.y - y) <= near + 2);
    return spot ? {spot} : {arc: this.#arcUnder(x, y)};
  }

  #arcUnder(x, y) {
    const {context: c, arcs} = this;
    const scale = Math.max(2, devicePixelRatio);
    c.lineWidth = near;
    for (let k = arcs.length - 1; k >= 0; k--) {
      c.beginPath();
      this.path(this.#arc(arcs[k]));
      if (c.isPointInStroke(x * scale, y * scale)) return arcs[k];
    }
    return undefined;
  }
}
