// The tooltip at the pointer: a revision, and what each series has there.

const MOST = 12; // series that it lists
const AWAY = 14; // pixels from the pointer
const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

function number(value) {
  return Number.isFinite(value) ? numbers.format(value).replace(/^-0$/, "0").replace("-", "−") : "–";
}

function element(name, css, ...children) {
  const made = document.createElement(name);
  if (css) made.className = css;
  made.append(...children);
  return made;
}

// `rows` are pairs of a series and what it has at the revision with the index `at`.
export function showTip(tip, { name, time, author, subject }, at, rows, place) {
  const when = time[at] === null ? "" : ` ${new Date(time[at]).toISOString().slice(0, 10)}`;
  tip.hidden = false; // first: what comes into a hidden part is not announced
  tip.replaceChildren(
    element("p", "", element("strong", "revision", name[at]), when, element("span", "muted", ` ${author[at]}`)),
    element("p", "", subject[at]),
    ...rows.slice(0, MOST).flatMap(([series, value]) => lines(series, value, at)),
    ...(rows.length > MOST ? [element("p", "muted", `and ${rows.length - MOST} more`)] : []),
  );
  const room = tip.parentElement.getBoundingClientRect();
  const left = place.x + AWAY + tip.offsetWidth > room.width ? place.x - AWAY - tip.offsetWidth : place.x + AWAY;
  tip.style.left = `${Math.max(left, 0)}px`;
  tip.style.top = `${Math.max(Math.min(place.y + AWAY, room.height - tip.offsetHeight), 0)}px`;
}

function lines(series, { value, low, high, n }, at) {
  const within = low === null ? "" : ` (${number(low)} to ${number(high)})`;
  const name = element("span", "", element("span", `key series-${series.slot}`), series.name);
  const figures = element("span", "v", number(value), element("span", "muted", `${within}, n = ${n}`));
  return [
    element("p", "one", name, figures),
    ...series.found.filter((one) => one.at === at).map((one) => element("p", one.verdict, `${one.size}, ${one.state}`)),
    ...(series.apart.includes(at) ? [element("p", "", "lab? its runs disagree")] : []),
  ];
}
