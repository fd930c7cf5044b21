// Labels of dots on the map, none on top of another: the more important are
// placed first, and what finds no room is left out.
import {make, textWidth} from './dom.js';

const line = 14; // px
const size = 11; // px, as in the style sheet

export function place(root, spots, width, height) {
  const taken = spots.map((s) => ({left: s.x - s.radius, right: s.x + s.radius, top: s.y - s.radius, bottom: s.y + s.radius}));
  const labels = [];
  for (const spot of [...spots].sort((a, b) => b.important - a.important || b.regions.length - a.regions.length)) {
    const box = free(spot, taken, width, height);
    if (!box) continue;
    taken.push(box);
    const label = make('span', {class: spot.important ? 'important' : ''}, spot.name);
    label.style.transform = `translate(${box.left}px, ${box.top}px)`;
    labels.push(label);
  }
  root.replaceChildren(...labels);
}

function free(spot, taken, width, height) {
  const w = textWidth(spot.name, size, spot.important ? 600 : 400) + 5;
  const gap = spot.radius + 2;
  const corners = [[gap, -line / 2], [-gap - w, -line / 2], [-w / 2, -gap - line], [-w / 2, gap], [gap - 2, -line], [gap - 2, 0]];
  for (const [dx, dy] of corners) {
    const box = {left: spot.x + dx, right: spot.x + dx + w, top: spot.y + dy, bottom: spot.y + dy + line};
    const inside = box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
    if (inside && !taken.some((t) => overlap(t, box))) return box;
  }
  return null;
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
