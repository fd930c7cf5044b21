// Orders that the matrix puts regions in.

// orders returns name, label and the regions' keys; equal keys go by name.
export function orders(facts) {
  const median = (key) => facts.regions.map((_, r) => middle(ofRegion(facts, r, key)));
  return [
    ['longitude', 'west to east', facts.regions.map((r) => r.lon ?? 999)],
    ['cloud', 'cloud, west to east', facts.regions.map((r) => [r.cloud, r.lon ?? 999])],
    ['name', 'name', facts.regions.map((r) => r.id)],
    ['rtt', 'median RTT', median('rtt')],
    ['bps', 'median goodput', median('bps').map((v) => -v)],
  ];
}

function ofRegion(facts, r, key) {
  const {from, to} = facts.pairs;
  return facts.pairs[key].filter((v, i) => from[i] !== to[i] && (from[i] === r || to[i] === r) && !Number.isNaN(v));
}

function middle(values) {
  values.sort((a, b) => a - b);
  return values.length ? values[values.length >> 1] : 1e18;
}

// sorted returns regions in the order of keys.
export function sorted(facts, keys) {
  const all = facts.regions.map((_, r) => r);
  return all.sort((a, b) => compare(keys[a], keys[b]) || compare(facts.regions[a].id, facts.regions[b].id));
}

function compare(a, b) {
  if (Array.isArray(a)) return compare(a[0], b[0]) || compare(a[1], b[1]);
  return a < b ? -1 : Number(a > b);
}
