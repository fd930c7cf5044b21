// A pair in words.
import {fate, pairOf} from './data.js';
import {count, kilometres, milliseconds, rate} from './units.js';

// describe returns lines: the pair, then its figures or what became of it.
export function describe(facts, from, to) {
  const title = `${facts.regions[from].id} → ${facts.regions[to].id}`;
  const pair = pairOf(facts, from, to);
  if (pair === undefined) return [title, from === to ? 'the same region' : 'not in the rows'];
  return [title, figures(facts, pair)];
}

export function figures(facts, i) {
  const p = facts.pairs;
  const parts = [];
  if (!Number.isNaN(p.km[i])) parts.push(kilometres(p.km[i]));
  if (fate(facts, i) !== 'measured') return [...parts, fate(facts, i)].join(', ');
  if (p.rtt[i] >= 0) parts.push(milliseconds(p.rtt[i]));
  if (p.bps[i] >= 0) parts.push(rate(p.bps[i]));
  if (facts.limits[p.limit[i]]) parts.push(`limited by ${facts.limits[p.limit[i]]}`);
  if (p.failed[i]) parts.push(`${count(p.failed[i], 'test')} failed`);
  return parts.join(', ');
}
