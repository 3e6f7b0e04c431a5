// The page of a bisect: what cannot be taken back is done to the version that is on the screen.

function load() {
  const version = document.querySelector("#live")?.dataset.version;
  if (!version) return;
  for (const field of document.querySelectorAll("input[name=version]")) field.value = version;
}

document.body.addEventListener("htmx:afterSwap", load);
load();
