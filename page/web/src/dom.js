// A few words for making elements, and for measuring text.

export const byId = (id) => document.getElementById(id);

// make returns an element with properties (attributes where they have a dash
// or are called role, for, class) and children.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.includes('-') || ['role', 'for', 'class', 'scope', 'list'].includes(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

// choice is a group of radio buttons that look like one switch.
export function choice(name, legend, options, chosen, change) {
  const buttons = make('div');
  for (const [value, label] of options) {
    const input = make('input', {type: 'radio', name, value, checked: value === chosen});
    input.addEventListener('change', () => change(value));
    buttons.append(make('label', {}, input, make('span', {}, label)));
  }
  return make('fieldset', {class: 'switch'}, make('legend', {}, legend), buttons);
}

export function select(label, options, chosen, change) {
  const box = make('select', {}, ...options.map(([value, text]) => make('option', {value}, text)));
  box.value = chosen;
  box.addEventListener('change', () => change(box.value));
  return make('label', {class: 'field'}, make('span', {}, label), box);
}

const context = document.createElement('canvas').getContext('2d');
const widths = new Map();
let family;

// textWidth is in px, of the page's font; it is rounded up.
export function textWidth(text, size, weight = 400) {
  family ??= getComputedStyle(document.body).fontFamily;
  const font = `${weight} ${size}px ${family}`;
  const key = `${font} ${text}`;
  if (!widths.has(key)) {
    context.font = font;
    widths.set(key, Math.ceil(context.measureText(text).width));
  }
  return widths.get(key);
}
