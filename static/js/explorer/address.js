// The state of the chart is the query of the address: A and B, the part in sight, the range, what is hidden.

const SEEN = ["view", "height", "hide"]; // what the server needs to know for its figure

// Sets each key to its value: a text, several, or null for none.
export function apply(query, changes) {
  for (const [key, value] of Object.entries(changes)) {
    query.delete(key);
    for (const one of [value ?? []].flat()) query.append(key, one);
  }
  return query;
}

export function write(query) {
  const text = String(query).replaceAll("%40", "@").replaceAll("%2F", "/").replaceAll("%3A", ":");
  history.replaceState(history.state, "", text ? `?${text}` : location.pathname);
  for (const taken of document.querySelectorAll("a[data-take]")) taken.href = pictured(taken.href, query);
}

// The address of a picture, or of a figure, of what is in sight.
export function pictured(href, query, more = {}) {
  const address = new URL(href, location.href);
  const seen = Object.fromEntries(SEEN.map((key) => [key, query.getAll(key)]));
  apply(address.searchParams, { ...seen, ...more });
  return address.href;
}
