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

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export function number(value) {
  return Number.isFinite(value) ? numbers.format(value).replace("-", "−") : "–";
}

export function percent(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  const text = value.toFixed(digits);
  if (Number(text) === 0) return text.replace("-", "");
  return (value > 0 ? "+" : "") + text.replace("-", "−");
}

export function width(value) {
  return percent(Math.abs(value)).replace("+", "");
}

export function address(path, pairs) {
  const query = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return query ? `${path}?${query}` : path;
}
