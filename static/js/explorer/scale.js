// Axes: how far they reach and where their ticks are; the rules of webapp/charts/scale.py.

const LEAST_SPAN = 0.025; // share of the level that an axis reaches to either side, at least
const WHISKER_SHARE = 0.25; // what whiskers may add to the span of the values
const PADDING = 0.06;

export function linear([low, high], [start, end]) {
  const slope = (end - start) / (high - low || 1);
  const scale = (value) => start + slope * (value - low);
  scale.clamped = (value) => scale(Math.min(Math.max(value, low), high));
  scale.back = (pixel) => low + (pixel - start) / slope;
  Object.assign(scale, { low, high, start, end, slope });
  return scale;
}

function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function yRange(values, lows, highs) {
  if (!values.length) return [0, 1];
  const level = median(values);
  const least = Math.abs(level) * LEAST_SPAN || 1;
  let [low, high] = [level - least, level + least];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const reach = (high - low) * WHISKER_SHARE;
  let [bottom, top] = [low, high];
  for (const end of lows) bottom = Math.min(bottom, Math.max(end, low - reach));
  for (const end of highs) top = Math.max(top, Math.min(end, high + reach));
  const pad = (top - bottom) * PADDING;
  return [bottom - pad, top + pad];
}

export function ticks(low, high, about) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => rough <= factor * power) ?? 10) * power;
  const found = [];
  for (let at = Math.ceil(low / step); at <= Math.floor(high / step); at += 1) found.push(at * step);
  return found;
}

// About so many of so many indices, evenly apart, the last included.
export function spread(count, about) {
  const step = Math.max(1, Math.ceil(count / about));
  const found = [];
  for (let at = count - 1; at >= 0; at -= step) found.unshift(at);
  return found;
}
