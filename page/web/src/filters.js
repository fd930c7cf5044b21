// The bar above the views: which pairs they show.
import {make, select} from './dom.js';
import {fate, groupTitle} from './data.js';
import {count, kilometres, thousands} from './units.js';

export class Filters {
  #listeners = [];

  constructor(form, facts) {
    this.facts = facts;
    const groups = facts.groups.map((_, g) => g).filter((g) => facts.pairs.group.includes(g));
    const top = Math.ceil(Math.max(0, ...facts.pairs.km.filter((km) => km >= 0)) / 500) * 500;
    this.state = {groups: new Set(groups), from: 0, to: top, top, text: '', only: 'all'};
    this.said = make('output', {class: 'said'});
    form.hidden = false;
    form.addEventListener('submit', (event) => event.preventDefault());
    form.append(this.#clouds(groups), this.#distance(), this.#region(), this.#only(), this.#reset(form), this.said);
  }

  // onChange also calls at once.
  onChange(listener) {
    this.#listeners.push(listener);
    this.#tell();
  }

  #tell() {
    const shown = this.shown();
    const n = shown.reduce((sum, s) => sum + s, 0);
    this.said.textContent = n === this.facts.n ? `All ${count(n, 'pair')}` : `${thousands(n)} of ${count(this.facts.n, 'pair')}`;
    this.#listeners.forEach((listener) => listener(shown));
  }

  // shown has a 1 for each pair that all filters let through.
  shown() {
    const {pairs, n} = this.facts;
    const {groups, from, to, top, only} = this.state;
    const all = from === 0 && to === top;
    const regions = this.#matching();
    const shown = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      const km = pairs.km[i];
      shown[i] = groups.has(pairs.group[i]) && (all || (km >= from && km <= to))
        && (!regions || regions[pairs.from[i]] || regions[pairs.to[i]]) && this.#wanted(only, i) ? 1 : 0;
    }
    return shown;
  }

  #wanted(only, i) {
    if (only === 'all') return true;
    if (only.startsWith('flag:')) return (this.facts.pairs.flags[i] & (1 << only.slice(5))) !== 0;
    if (only.startsWith('limit:')) return this.facts.pairs.limit[i] === Number(only.slice(6)) && this.facts.pairs.ok[i] > 0;
    if (only === 'failed') return this.facts.pairs.failed[i] > 0;
    return fate(this.facts, i) === only;
  }

  // matching says which regions have every word of the text; null: any.
  #matching() {
    const words = this.state.text.toLowerCase().split(/[\s,]+/).filter(Boolean);
    if (!words.length) return null;
    return this.facts.regions.map((r) => words.some((word) => `${r.id} ${r.place ?? ''}`.toLowerCase().includes(word)));
  }

  #clouds(groups) {
    const set = make('fieldset', {class: 'chips'}, make('legend', {}, 'Clouds'));
    for (const g of groups) {
      const box = make('input', {type: 'checkbox', checked: true, name: 'group', value: this.facts.groups[g]});
      box.addEventListener('change', () => {
        if (box.checked) this.state.groups.add(g);
        else this.state.groups.delete(g);
        this.#tell();
      });
      set.append(make('label', {}, box, make('i', {class: `mark g${g % 9}`, 'aria-hidden': 'true'}), make('span', {}, groupTitle(this.facts.groups[g]))));
    }
    return set;
  }

  #distance() {
    const {top} = this.state;
    const said = make('output', {});
    const ends = ['from', 'to'].map((end) => {
      const input = make('input', {type: 'range', min: 0, max: top, step: 500, defaultValue: this.state[end], value: this.state[end], 'aria-label': `Distance ${end}`, name: `km-${end}`});
      input.addEventListener('input', () => {
        this.state[end] = Number(input.value);
        say();
        this.#soon();
      });
      return input;
    });
    const say = () => {
      const {from, to} = this.state;
      said.textContent = from === 0 && to === top ? 'any' : `${thousands(from)} to ${kilometres(to)}`;
      ends.forEach((input, i) => input.setAttribute('aria-valuetext', kilometres(i ? to : from)));
    };
    say();
    return make('fieldset', {class: 'distance'}, make('legend', {}, 'Distance'), ...ends, said);
  }

  // A slider says more than the views can follow: once a frame is enough.
  #soon() {
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.#tell());
  }

  #region() {
    const input = make('input', {type: 'search', name: 'text', placeholder: 'tokyo, eu-west', autocomplete: 'off', spellcheck: false});
    input.addEventListener('input', () => {
      this.state.text = input.value;
      this.#soon();
    });
    return make('label', {class: 'field'}, make('span', {}, 'Region'), input);
  }

  #only() {
    const {flags, limits, pairs} = this.facts;
    const options = [['all', 'every pair'], ['measured', 'measured'], ['failed', 'with a failed test'], ['skipped', 'skipped']];
    flags.forEach((flag, i) => {
      if (pairs.flags.some((bits) => bits & (1 << i))) options.push([`flag:${i}`, `flag: ${flag.name}`]);
    });
    limits.forEach((limit, i) => {
      if (limit) options.push([`limit:${i}`, `limited by: ${limit}`]);
    });
    return select('Show', options, 'all', (value) => {
      this.state.only = value;
      this.#tell();
    });
  }

  #reset(form) {
    const button = make('button', {type: 'reset', class: 'quiet'}, 'Reset');
    form.addEventListener('reset', () => setTimeout(() => {
      const {top} = this.state;
      Object.assign(this.state, {groups: new Set(this.facts.pairs.group), from: 0, to: top, text: '', only: 'all'});
      form.querySelector('.distance output').textContent = 'any';
      this.#tell();
    }));
    return button;
  }
}
