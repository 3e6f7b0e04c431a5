// What the server gave, made ready to draw: where each revision stands and each series' values.

// A chart has the columns of the server and for each series xs, ys, lows and highs as drawn. Series
// under `costs` are ratios in percent and have a lane of their own, with its title.
export function prepared(columns) {
  const { revisions, axis } = columns;
  const places = axis === "time" ? revisions.time : (revisions.slot ?? revisions.name.map((_, at) => at));
  const order = [...places.keys()].filter((at) => places[at] !== null);
  order.sort((one, other) => places[one] - places[other]);
  const chart = { ...columns, places, order, isThinned: Boolean(revisions.slot) };
  chart.series = columns.series.map((one) => scaled(one, places));
  chart.costs = columns.costs.map((one) => ({ ...scaled(one, places), isCost: true }));
  chart.whole = extent(chart);
  return chart;
}

function scaled(series, places) {
  const factor = series.factor === undefined ? 1 : series.factor; // null: it starts at zero
  const times = (values) => values?.map((value) => (value === null ? null : value * factor)) ?? [];
  return {
    ...series,
    isDrawable: factor !== null,
    xs: series.revision.map((revision) => places[revision]),
    ys: times(series.value),
    lows: times(series.low),
    highs: times(series.high),
    levels: series.levels.map(([first, last, ...heights]) => [first, last, ...times(heights)]),
    found: series.found.map((one) => placed(one, series, factor)),
    marks: series.marks.map((one) => placed(one, series, factor)),
    at: new Map(series.revision.map((revision, at) => [revision, at])),
  };
}

function placed(found, series, factor) {
  return {
    ...found,
    index: series.revision[found.at],
    from: found.before * factor,
    to: found.since * factor,
  };
}

function extent(chart) {
  if (chart.axis !== "time") return [-0.5, Math.max(chart.total, 1) - 0.5];
  const times = chart.order.map((at) => chart.places[at]);
  return times.length ? [times[0], times.at(-1) + 1] : [0, 1];
}

// The place of an index that may lie between two revisions: 3.5 is between the fourth and the fifth.
export function placeAt(chart, at) {
  const last = chart.places.length - 1;
  const end = (index) => chart.places[Math.min(Math.max(index, 0), last)];
  const [low, high] = [end(Math.floor(at)), end(Math.ceil(at))];
  if (low === null || high === null) return null;
  const isPlain = chart.axis !== "time" && !chart.isThinned;
  return isPlain ? at : (low + high) / 2;
}

// The revision (its index) that stands nearest to a place.
export function nearest(chart, place) {
  const { order, places } = chart;
  let [low, high] = [0, order.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (places[order[middle]] <= place) low = middle;
    else high = middle;
  }
  const isLow = Math.abs(places[order[low]] - place) <= Math.abs(places[order[high]] - place);
  return order[isLow ? low : high] ?? null;
}

// The names of the first and the last revision inside a window; null where none is.
export function namesIn(chart, [low, high]) {
  const inside = chart.order.filter((at) => chart.places[at] >= low && chart.places[at] <= high);
  const names = chart.revisions.name;
  return inside.length ? [names[inside[0]], names[inside.at(-1)]] : null;
}

// The window from one revision to another, by name; null where they are not here.
export function windowOf(chart, first, last) {
  const ends = [first, last].map((name) => chart.places[chart.revisions.name.indexOf(name)]);
  if (ends.some((end) => end === null || end === undefined)) return null;
  ends.sort((one, other) => one - other);
  return chart.axis === "time" ? [ends[0], ends[1] + 1] : [ends[0] - 0.5, ends[1] + 0.5];
}

export function lanesOf(chart, hidden) {
  const shown = chart.series.filter((one) => one.isDrawable && !hidden.has(one.id));
  const key = { mode: "mode", hardware: "hardware" }[chart.split];
  const lanes = new Map();
  for (const one of shown) {
    const title = key ? one[key] : chart.title;
    lanes.set(title, [...(lanes.get(title) ?? []), one]);
  }
  const found = [...lanes].map(([title, series]) => ({ title, series }));
  for (const one of chart.costs) found.push({ title: one.title, series: [one] });
  return found.length ? found : [{ title: chart.title, series: [] }];
}
