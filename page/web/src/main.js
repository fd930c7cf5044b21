// The page's start: unpack what is shown at once, then draw it view by view.
import {readFacts} from './data.js';
import {Filters} from './filters.js';
import {makeFlagLinks, PairDialog} from './pair.js';
import {Matrix} from './matrix.js';
import {Scatter} from './scatter.js';
import {WorldMap} from './map.js';
import {PairTable} from './table.js';
import {Theme} from './theme.js';
import {byId} from './dom.js';

async function start() {
  const facts = await readFacts();
  for (const section of document.querySelectorAll('[data-view]')) section.hidden = false;
  const theme = new Theme(byId('theme'));
  const filters = new Filters(byId('filters'), facts);
  const dialog = new PairDialog(byId('pair'), facts, theme);
  const open = (pair) => dialog.open(pair);
  const views = [
    new Matrix(byId('matrix'), facts, open),
    new Scatter(byId('scatter'), facts, theme, open),
    new WorldMap(byId('map'), facts, theme, open),
    new PairTable(byId('pairs'), facts, open),
  ];
  makeFlagLinks(open);
  filters.onChange((shown) => views.forEach((view) => view.update(shown)));
  theme.onChange(() => views.forEach((view) => view.paint?.()));
  prepareForPrint(theme, views);
  await painted();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

// Paper is light and narrower than a screen; afterwards all is as it was.
function prepareForPrint(theme, views) {
  addEventListener('beforeprint', () => {
    theme.force('light');
    views.forEach((view) => view.print?.(true));
  });
  addEventListener('afterprint', () => {
    theme.force(null);
    views.forEach((view) => view.print?.(false));
  });
}

function painted() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

start();
