// The download: the rows of the pairs shown, under the names of results.csv. Of
// more rows than the page keeps there are the pairs' medians.
import {readRows} from './data.js';
import {make} from './dom.js';

export async function download(facts, shown) {
  const lines = facts.rows ? await ofRows(facts, shown) : ofPairs(facts, shown);
  const url = URL.createObjectURL(new Blob([lines.map(join).join('')], {type: 'text/csv'}));
  make('a', {href: url, download: 'antipode-rows.csv'}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const ends = ['from_cloud', 'from_region', 'to_cloud', 'to_region'];

function endsOf({regions, pairs}, i) {
  const [from, to] = [regions[pairs.from[i]], regions[pairs.to[i]]];
  return [from.cloud, from.name, to.cloud, to.name];
}

async function ofRows(facts, shown) {
  const rows = await readRows();
  const columns = [...rows.texts.map((c) => [c.name, (i) => c.words[c.which[i]]]), ...rows.numbers.map((c) => [c.name, (i) => c.values[i] ?? ''])];
  const lines = [[...ends, ...columns.map(([name]) => name)]];
  rows.pair.forEach((pair, i) => {
    if (shown[pair]) lines.push([...endsOf(facts, pair), ...columns.map(([, of]) => of(i))]);
  });
  return lines;
}

function ofPairs(facts, shown) {
  const {km, rtt, bps, ok, failed, skipped} = facts.pairs;
  const lines = [[...ends, 'distance_km', 'median_rtt_ms', 'median_goodput_bps', 'ok', 'failed', 'skipped']];
  for (let i = 0; i < facts.n; i++) {
    if (shown[i]) lines.push([...endsOf(facts, i), ...[km, rtt, bps, ok, failed, skipped].map((c) => (Number.isNaN(c[i]) ? '' : c[i]))]);
  }
  return lines;
}

const join = (cells) => `${cells.map(quote).join(',')}\r\n`;

// quote follows RFC 4180. A text that a spreadsheet would take for a formula is
// disarmed: rows may be from anybody.
function quote(cell) {
  let text = String(cell);
  if (typeof cell === 'string' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
