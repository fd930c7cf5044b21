// What the page holds, packed by Go's package page: base64 of gzip.
import {byId} from './dom.js';

async function unpack(id) {
  const text = atob(byId(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

async function unpackJSON(id) {
  return JSON.parse(new TextDecoder().decode(await unpack(id)));
}

// readFacts adds what follows from the columns.
export async function readFacts() {
  const facts = await unpackJSON('facts');
  const p = facts.pairs;
  facts.n = p.from.length;
  p.way = new Map();
  for (let i = 0; i < facts.n; i++) p.way.set(p.from[i] * facts.regions.length + p.to[i], i);
  for (const name of ['km', 'rtt', 'bps']) p[name] = p[name].map((v) => (v === null ? NaN : v));
  for (const r of facts.regions) [r.cloud, r.name] = split(r.id);
  return facts;
}

function split(id) {
  const colon = id.indexOf(':');
  return [id.slice(0, colon), id.slice(colon + 1)];
}

// pairOf is the pair of two regions, or undefined.
export const pairOf = (facts, from, to) => facts.pairs.way.get(from * facts.regions.length + to);

export const fate = (facts, i) => {
  const p = facts.pairs;
  if (p.ok[i] > 0) return 'measured';
  return p.failed[i] > 0 ? 'failed' : 'skipped';
};

export function cloudTitle(cloud) {
  if (cloud === 'aws' || cloud === 'gcp') return cloud.toUpperCase();
  return cloud === 'azure' ? 'Azure' : cloud;
}

export function groupTitle(name) {
  const dash = name.indexOf('-');
  return `${cloudTitle(name.slice(0, dash))} → ${cloudTitle(name.slice(dash + 1))}`;
}

let rows; // a promise, once somebody asked

// readRows unpacks the rows the first time they are asked for.
export function readRows() {
  rows ??= unpackJSON('rows').then((r) => ({
    pair: r.pair ?? [],
    texts: r.texts ?? [],
    numbers: r.numbers ?? [],
    series: r.series,
  }));
  return rows;
}

export const text = (rows, name, i) => {
  const column = rows.texts.find((c) => c.name === name);
  return column ? column.words[column.which[i]] : '';
};

export const number = (rows, name, i) => rows.numbers.find((c) => c.name === name)?.values[i] ?? null;

let samples; // a promise, once somebody asked

// readSamples returns how the test of a row went on, or null.
export async function readSamples(row) {
  const {series} = await readRows();
  const at = (series.row ?? []).indexOf(row);
  if (at < 0) return null;
  samples ??= unpack('samples').then((b) => new Uint8Array(b));
  const planes = await samples;
  const total = planes.length / 6;
  let first = 0;
  for (let i = 0; i < at; i++) first += series.points[i];
  const word = (run, i) => planes[2 * run * total + i] + 256 * planes[(2 * run + 1) * total + i];
  const points = [];
  for (let i = first, ms = 0; i < first + series.points[at]; i++) {
    ms += word(0, i);
    const rtt = (word(2, i) / 4095) * series.max_ms[at];
    points.push({s: ms / 1000, bps: (word(1, i) / 4095) * series.max_bps[at], ms: rtt > 0 ? rtt : null});
  }
  return {points, joined: series.joined[at]};
}
