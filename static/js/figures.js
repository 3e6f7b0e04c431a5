// What all charts of Plotly share: the colours of the theme, and fewer labels where it is narrow.

export const NARROW = 640; // pixels: below it only every third revision is labelled

// Colours are names of CSS properties. Texts are left alone: one may look like such a name.
export function themed(value, key = "") {
  if (typeof value === "string") {
    return key.endsWith("color") && value.startsWith("var(") ? colour(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => themed(each, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, themed(each, name)]));
}

// As the browser shows it: the property itself holds the colours of both themes.
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = name;
  document.body.append(probe);
  const shown = getComputedStyle(probe).color;
  probe.remove();
  return shown;
}

export function thinLabels(axis) {
  for (const key of ["tickvals", "ticktext"]) {
    if (axis[key]) axis[key] = axis[key].filter((_, index) => index % 3 === 1);
  }
}
