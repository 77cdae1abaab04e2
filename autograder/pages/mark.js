// Keys of the marking page. Without this file everything can still be done with the form's own fields and buttons.
"use strict";
const at = (id) => document.getElementById(id);
const form = at("mark"), points = at("points"), words = at("words"), answer = at("answer"), said = at("said");
const same = at("same"), earlier = at("earlier"), alike = form.elements.alike;
const items = [...form.elements].filter((one) => one.name === "item"), of = Number(points.dataset.of);
const was = said.textContent;
let leaving = false, sent = false;

for (const one of form.querySelectorAll("[hidden]:not(input)")) one.hidden = one === same && !same.dataset.words;
points.focus({ preventScroll: true });
points.select();
const first = setTimeout(() => tell(was), 150); // a screen reader says what changes, not what was there

function tell(text) {
  clearTimeout(first);
  said.textContent = "";
  requestAnimationFrame(() => (said.textContent = text));
}

function comment(text) {
  if (text) words.value = text;
  tell(text ? `Comment: ${text}` : "There is no comment before this one.");
}

function worth() {
  const sum = items.reduce((all, item) => all + (item.checked ? Number(item.dataset.points) : 0), 0);
  return Math.round(Math.min(Math.max(sum, 0), of) * 1e6) / 1e6;
}

let before = worth();
function follow() {
  const typed = Number(points.value.replace(",", ".")), now = worth();
  const more = points.value.trim() && Number.isFinite(typed) ? typed - before : 0; // given beside the items
  points.value = String(Math.round(Math.min(Math.max(now + more, 0), of) * 1e6) / 1e6);
  before = now;
}

function toggle(item) {
  item.checked = !item.checked;
  follow();
  tell(`${item.checked ? "With" : "Without"} ${item.closest("label").innerText.trim()}: ${points.value}.`);
}
for (const item of items) item.addEventListener("change", follow);
at("live").value = "yes";

function go(id) {
  const changed = points.value !== points.defaultValue || words.value !== words.defaultValue ||
    items.some((item) => item.checked !== item.defaultChecked);
  if (changed && !leaving) {
    leaving = true;
    tell("Not saved: Enter saves it; the same arrow again leaves it.");
  } else if (at(id)) {
    location.assign(at(id).href);
  } else {
    tell(id === "next" ? "This is the last answer." : "This is the first answer.");
  }
}

const KEYS = {
  c: () => words.focus(),
  s: () => comment(same.dataset.words),
  a: () => answer.focus(),
  x: () => alike && (alike.checked = !alike.checked, tell(alike.checked ? "The same for all." : "For this one only.")),
  n: () => at("names").requestSubmit(),
  ArrowLeft: () => go("previous"),
  ArrowRight: () => go("next"),
  ArrowUp: () => scrollBy(0, -120),
  ArrowDown: () => scrollBy(0, 120),
};
for (const item of items) if (item.dataset.key) KEYS[item.dataset.key] = () => toggle(item);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const where = event.target, key = event.key;
  if (where === words) {
    if (key === "Escape") points.focus();
    if (key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  const free = where === document.body || where === answer;
  if (!free && where !== points) return; // a link, a button: its keys are its own
  if (free && /^[0-9.,]$/.test(key)) {
    points.value = ""; // the digit follows the focus
    points.focus({ preventScroll: true });
  } else if (free && key === "Enter") {
    form.requestSubmit();
  } else if (KEYS[key] && (where === points || key === "ArrowLeft" || key === "ArrowRight")) {
    event.preventDefault();
    KEYS[key]();
  }
});
form.addEventListener("submit", (event) => {
  if (sent) event.preventDefault(); // Enter, held down
  sent = true;
});
same.addEventListener("click", () => comment(same.dataset.words));
if (earlier) earlier.addEventListener("change", () => comment(earlier.value));
addEventListener("pageshow", () => (sent = false));
