// The box beside the pointer: one for the page.
import {byId, make} from './dom.js';

// showTip puts lines beside a point of the window, on whichever side has room.
export function showTip(x, y, ...lines) {
  const tip = byId('tip');
  tip.replaceChildren(...lines.map((line) => (line instanceof Node ? line : make('p', {}, line))));
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
  const top = Math.min(y + 16, innerHeight - height - 8);
  tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

export const hideTip = () => {
  byId('tip').hidden = true;
};
