// Regions that stand where others do share a dot and a label.
const close = 1.2; // degrees

export function metros(regions) {
  const found = [];
  regions.forEach((r, i) => {
    if (r.lat === null) return;
    const same = found.find((m) => Math.abs(m.lat - r.lat) < close && Math.abs(m.lon - r.lon) < close);
    if (same) same.regions.push(i);
    else found.push({lat: r.lat, lon: r.lon, regions: [i], name: name(r)});
  });
  return found;
}

// name is the city where one is known: "Frankfurt" of "Frankfurt, Germany".
const name = (r) => (r.place || r.name).split(/[,(/]/)[0].trim();
