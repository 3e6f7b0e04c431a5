// Forms that a key answers: the browser asks the key, and the form sends what it answered.

const CANNOT = "This browser cannot use keys here: it needs HTTPS, and to be of 2025 or later.";
const GAVE_UP = "The key did not answer, or this browser has none for this account.";

async function optionsFor(form) {
  const here = document.querySelector("#key-options");
  if (here) return JSON.parse(here.textContent);
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}: try again in a minute.`);
  return answer.json();
}

function newKey(form, options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.publicKey);
  const isPasskey = form.elements.passwordless.checked;
  Object.assign(publicKey.authenticatorSelection, {
    residentKey: isPasskey ? "required" : "discouraged",
    requireResidentKey: isPasskey,
  });
  if (isPasskey) publicKey.authenticatorSelection.userVerification = "required";
  return navigator.credentials.create({ publicKey });
}

function knownKey(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey);
  return navigator.credentials.get({ publicKey });
}

async function answer(form) {
  const { creation_options: creation, request_options: request } = await optionsFor(form);
  const key = await (creation ? newKey(form, creation) : knownKey(request));
  form.elements.credential.value = JSON.stringify(key);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-key]")) {
  const trouble = form.querySelector("[role='alert']");
  const show = (text) => {
    trouble.textContent = text;
    trouble.hidden = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    trouble.hidden = true;
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) show(CANNOT);
    else answer(form).catch((error) => show(error instanceof DOMException ? GAVE_UP : error.message));
  });
}
