// Figures with their units, as Go's package units writes them.

export function figure(v) {
  if (v === 0) return '0';
  if (v >= 99.95) return fixed(v, 0);
  if (v >= 9.995) return fixed(v, 1);
  return fixed(v, v >= 0.9995 ? 2 : 3);
}

// fixed rounds a half to even, as Go does.
function fixed(v, decimals) {
  const scaled = v * 10 ** decimals;
  const down = Math.floor(scaled);
  if (scaled - down === 0.5 && down % 2 === 0) return (down / 10 ** decimals).toFixed(decimals);
  return v.toFixed(decimals);
}

export const thousands = (text) => String(text).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

const known = (v) => v !== null && v !== undefined && !Number.isNaN(v);

export const kilometres = (km) => (known(km) ? `${thousands(fixed(km, 0))} km` : '–');

export const milliseconds = (ms) => (known(ms) ? `${figure(ms)} ms` : '–');

export function rate(bps) {
  if (!known(bps)) return '–';
  const units = ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'];
  let unit = 0;
  while (unit < units.length - 1 && bps >= 999.5) {
    bps /= 1000;
    unit++;
  }
  return `${figure(bps)} ${units[unit]}`;
}

export function bytes(n) {
  if (!known(n)) return '–';
  for (const [factor, prefix] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (n >= factor * 0.9995) return `${figure(n / factor)} ${prefix}B`;
  }
  return `${figure(n)} B`;
}

export const percent = (ratio) => (known(ratio) ? `${figure(ratio * 100)} %` : '–');

export const count = (n, what) => `${thousands(n)} ${what}${n === 1 ? '' : 's'}`;
