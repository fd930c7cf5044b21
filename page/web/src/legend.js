// The legend of bands, failed pairs among it.
import {make} from './dom.js';

export function legend(bands, metric, kind = 'c') {
  const items = bands.labels.map(([label, band]) => item(`${kind} b${band}`, label));
  if (kind === 'c') items.push(item('c failed', 'failed'), item('c none', 'not measured'));
  return [make('span', {class: 'legend-title'}, metric.title), ...items];
}

const item = (look, label) => make('span', {class: 'item'}, make('i', {class: `swatch ${look}`, 'aria-hidden': 'true'}), label);
