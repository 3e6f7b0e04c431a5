// Elements, numbers and addresses as the trend page writes them.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== ""));
  return made;
}

export function link(href, words) {
  return element("a", { href }, words);
}

// The text of a number with the minus sign that pages use; nought has no sign.
function signed(text) {
  return Number.parseFloat(text) === 0 ? text.replace(/^[+-]/, "") : text.replace("-", "−");
}

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export function number(value) {
  return Number.isFinite(value) ? signed(numbers.format(value)) : "–";
}

export function percent(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  return signed((value > 0 ? "+" : "") + value.toFixed(digits));
}

export function width(value) {
  return percent(Math.abs(value)).replace("+", "");
}

export function address(path, pairs) {
  const query = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return query ? `${path}?${query}` : path;
}

export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== ""));
  return made;
}

const THOUSANDS = [["G", 1e9], ["M", 1e6], ["k", 1e3]];

// To three digits with the letter of its thousands: 1.16 M.
export function short(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const [letter, unit] = THOUSANDS.find(([, least]) => size >= least * 0.9995) ?? ["", 1];
  const shown = value / unit;
  const digits = Math.abs(shown) < 9.995 ? 2 : Math.abs(shown) < 99.95 ? 1 : 0;
  return signed(`${shown.toFixed(digits)} ${letter}`.trim());
}
