// What was typed into a form that was refused, because its person was not signed in any more or its token
// was that of another session, stands in the form again when its page is next loaded in this tab.

const KEY = "typed";
const TEXT = "textarea, input:not([type=hidden], [type=password], [type=file], [type=checkbox], [type=radio])";
const BOX = "input:is([type=checkbox], [type=radio])";
const isRefusal = Boolean(document.querySelector("meta[name=refusal]")); // or a step of signing in
const page = location.pathname + location.search;

function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null; // the browser stores nothing
  }
}

function store(typed) {
  try {
    if (typed) sessionStorage.setItem(KEY, JSON.stringify(typed));
    else sessionStorage.removeItem(KEY);
  } catch {
    // It is typed anew.
  }
}

function keep({ target: form }) {
  if (form.method !== "post") return;
  const fields = [...form.elements];
  const isTyped = fields.some((one) => one.matches(TEXT) && one.value !== one.defaultValue);
  const values = fields.map((one) => {
    if (one.matches(BOX)) return [one.name, one.checked];
    return [one.name, one.matches(`${TEXT}, select`) ? one.value : null];
  });
  store(isTyped ? { page, action: form.action, values } : null);
}

function giveBack({ action, values }) {
  const isForm = ({ action: its, elements }) => its === action && values.every(([name], at) => elements[at]?.name === name);
  const fields = [...([...document.forms].find(isForm)?.elements ?? [])];
  fields.forEach((one, at) => {
    const [, value] = values[at] ?? [];
    if (one.matches(BOX)) one.checked = value;
    else if (value !== null) one.value = value;
  });
  const typed = fields.find((one) => one.matches(TEXT) && one.value !== one.defaultValue);
  for (let fold = typed?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  typed?.focus();
}

const typed = stored();
if (isRefusal) {
  if (typed) store({ ...typed, isRefused: true });
} else {
  store(null);
  if (typed?.isRefused && typed.page === page) giveBack(typed);
  document.addEventListener("submit", keep, { capture: true });
  document.addEventListener("htmx:afterSwap", () => store(null)); // it was accepted
}
