// The dialog of one pair: its figures, what limited it, and how its tests went on.
import {fate, number, pairOf, readRows, readSamples, text} from './data.js';
import {byId, make, select} from './dom.js';
import {limits} from './limits.js';
import {figures} from './say.js';
import {SampleChart} from './samples.js';
import {bytes, count, milliseconds, percent, rate, thousands} from './units.js';

// makeFlagLinks lets the links that Go wrote open the dialog.
export function makeFlagLinks(open) {
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-pair]');
    if (!link) return;
    event.preventDefault();
    open(Number(link.dataset.pair));
  });
}

export class PairDialog {
  constructor(dialog, facts, theme) {
    Object.assign(this, {dialog, facts, theme});
    dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
    theme.onChange(() => this.chart?.paint());
  }

  async open(pair) {
    byId('tip').hidden = true;
    const {regions, pairs} = this.facts;
    const [from, to] = [pairs.from[pair], pairs.to[pair]];
    this.pair = pair;
    this.body = make('div', {class: 'tests'});
    this.dialog.replaceChildren(
      make('header', {}, make('h2', {id: 'pair-title', tabIndex: -1, autofocus: true}, `${regions[from].id} → ${regions[to].id}`), this.#close()),
      make('p', {class: 'lead'}, figures(this.facts, pair)), this.#places(from, to), this.body, this.#foot(from, to));
    if (!this.dialog.open) this.dialog.showModal();
    await this.#tests(pair);
  }

  #close() {
    const button = make('button', {type: 'button', class: 'quiet', 'aria-label': 'Close'}, '×');
    button.addEventListener('click', () => this.dialog.close());
    return button;
  }

  #places(from, to) {
    const {regions, pairs, flags} = this.facts;
    const places = [regions[from].place, regions[to].place].filter(Boolean).join(' → ');
    const found = flags.filter((_, bit) => pairs.flags[this.pair] & (1 << bit));
    return make('div', {}, make('p', {class: 'note'}, places), ...found.map((f) => make('p', {class: 'warning'}, f.title)));
  }

  #foot(from, to) {
    const back = pairOf(this.facts, to, from);
    if (back === undefined || back === this.pair) return make('p', {class: 'note'}, from === to ? 'Within one region.' : 'The other direction is not in the rows.');
    const button = make('button', {type: 'button'}, 'Show the other direction');
    button.addEventListener('click', () => this.open(back));
    return make('footer', {}, button, make('span', {class: 'note'}, `${figures(this.facts, back)}`));
  }

  async #tests(pair) {
    if (!this.facts.rows) {
      this.body.append(make('p', {}, 'There are too many rows to keep each of them in a page: these figures are medians.'));
      return;
    }
    const rows = await readRows();
    const mine = [];
    rows.pair.forEach((p, i) => p === pair && mine.push(i));
    if (this.pair !== pair) return; // another one was opened meanwhile
    const place = make('div');
    if (mine.length > 1) {
      const names = mine.map((i, k) => [String(i), [`test ${k + 1} of ${mine.length}`, text(rows, 'timestamp', i), text(rows, 'status', i)].filter(Boolean).join(', ')]);
      this.body.append(select('Test', names, String(mine[0]), (value) => this.#test(rows, Number(value), place)));
    }
    this.body.append(place);
    if (mine.length) await this.#test(rows, mine[0], place);
  }

  async #test(rows, i, place) {
    const reason = text(rows, 'error', i);
    place.replaceChildren(...(reason ? [make('p', {class: 'warning'}, `${text(rows, 'status', i)}: ${reason}`)] : []), this.#limit(rows, i), facts(rows, i));
    const samples = await readSamples(i);
    this.chart?.close();
    this.chart = null;
    if (!samples) {
      if (fate(this.facts, this.pair) === 'measured') place.append(make('p', {class: 'note'}, 'The rows came without samples of this test.'));
      return;
    }
    this.chart = new SampleChart(place, samples, this.theme);
  }

  #limit(rows, i) {
    const limit = text(rows, 'limited_by', i);
    if (!limit) return make('p', {class: 'note'}, 'What limited the goodput is not known.');
    const evidence = text(rows, 'limited_by_evidence', i);
    return make('div', {class: 'limit'}, make('p', {}, 'Limited by ', make('strong', {}, limit), limits[limit] ? `: ${limits[limit]}` : ''), ...(evidence ? [make('p', {class: 'note'}, `Evidence: ${evidence}`)] : []));
  }
}

// facts are what is known of a test, name by name; what nobody measured is left out.
function facts(rows, i) {
  const list = make('dl', {class: 'facts'});
  const add = (name, value) => value && value !== '–' && list.append(make('div', {}, make('dt', {}, name), make('dd', {}, value)));
  const n = (name) => number(rows, name, i);
  const t = (name) => text(rows, name, i);
  const error = n('goodput_error_ratio') !== null ? ` ± ${percent(n('goodput_error_ratio'))}` : '';
  add('Goodput', n('goodput_bps') !== null && rate(n('goodput_bps')) + error);
  add('RTT, median', milliseconds(n('rtt_p50_ms')));
  add('RTT, mean', n('rtt_p50_ms') === null && milliseconds(n('rtt_mean_ms')));
  add('RTT, least', milliseconds(n('rtt_min_ms')));
  add('RTT, 99th percentile', milliseconds(n('rtt_p99_ms')));
  add('RTT under load', milliseconds(n('rtt_loaded_p50_ms')));
  add('Probes lost', percent(n('rtt_loss_ratio')));
  add('Sent again', percent(n('retransmit_ratio')));
  add('Window over RTT', rate(n('window_ceiling_bps')));
  add('Streams', n('streams') !== null && count(n('streams'), 'stream'));
  add('Congestion control', t('congestion_control'));
  add('Received', bytes(n('bytes')));
  add('Duration', n('duration_s') !== null && `${n('duration_s').toFixed(2)} s`);
  add('Stopped by', t('stopped_by'));
  add('Sender’s CPUs', percent(n('from_cpu_ratio')));
  add('Receiver’s CPUs', percent(n('to_cpu_ratio')));
  add('Machines', [t('from_machine'), t('to_machine')].filter(Boolean).join(' → '));
  add('Zones', [t('from_zone'), t('to_zone')].filter(Boolean).join(' → '));
  add('Path', [t('path'), t('ip_version') && `IPv${t('ip_version')}`, t('network_tier')].filter(Boolean).join(', '));
  add('Path MTU', n('path_mtu_bytes') !== null && `${thousands(n('path_mtu_bytes'))} bytes`);
  add('Card’s limits exceeded', t('nic_allowance_exceeded'));
  add('UDP', n('udp_goodput_bps') !== null && `${rate(n('udp_goodput_bps'))}, ${percent(n('udp_loss_ratio'))} lost`);
  add('Flags', t('flags').replaceAll(';', ', '));
  add('When', t('timestamp'));
  add('Run', t('run_id'));
  return list;
}
