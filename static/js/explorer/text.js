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

export function address(path, pairs) {
  const query = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return query ? `${path}?${query}` : path;
}
