// Seven bands of a figure, slowest first, as many pairs in each; fewer where
// there are few figures. Colours go by band, so that a legend can name them.
import {milliseconds, rate} from './units.js';

export const metrics = {
  rtt: {key: 'rtt', title: 'RTT', text: milliseconds, slowIsHigh: true},
  bps: {key: 'bps', title: 'Goodput', text: rate, slowIsHigh: false},
};

const most = 7;

// bandsOf returns the edges in rising order, and the band of a value.
export function bandsOf(values, metric) {
  const sorted = Float64Array.from(values.filter((v) => v > 0)).sort();
  const edges = [];
  for (let i = 1; i < most && sorted.length; i++) {
    const edge = twoDigits(sorted[Math.floor((sorted.length * i) / most)]);
    if (edge > sorted[0] && edge < sorted[sorted.length - 1] && edge !== edges[edges.length - 1]) edges.push(edge);
  }
  const n = edges.length + 1;
  const rising = (v) => edges.reduce((band, edge) => band + (v >= edge), 0);
  const place = (band) => (n === 1 ? 3 : Math.round((band * (most - 1)) / (n - 1)));
  const of = (v) => {
    const band = rising(v);
    return place(metric.slowIsHigh ? n - 1 - band : band);
  };
  return {edges, of, labels: labels(edges, metric).map((label, band) => [label, place(metric.slowIsHigh ? n - 1 - band : band)])};
}

function twoDigits(v) {
  const unit = 10 ** (Math.floor(Math.log10(v)) - 1);
  return Number((Math.round(v / unit) * unit).toPrecision(2));
}

// plain writes an edge without digits it does not have: "250 Mbit/s", not "250.0".
const plain = (text) => text.replace(/(\.\d*?)0+ /, '$1 ').replace(/\. /, ' ');

function labels(edges, metric) {
  if (!edges.length) return ['all'];
  const text = (v) => plain(metric.text(v));
  return [`under ${text(edges[0])}`, ...edges.slice(1).map((edge, i) => range(text(edges[i]), text(edge))), `${text(edges[edges.length - 1])} and more`];
}

// range names a unit once where both ends have it.
function range(low, high) {
  const [a, unit] = low.split(' ');
  return unit === high.split(' ')[1] ? `${a} – ${high}` : `${low} – ${high}`;
}
