// Draws the values of two or three submissions side by side, from values.js. Untrusted text never becomes HTML.
"use strict";

const MOST_MARKED = 5;
const SIZE = 300;

function make(name, attributes = {}, ...children) {
  const isDrawn = ["svg", "circle", "path", "text", "title"].includes(name);
  const element = isDrawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
}

// Positions of the models whose ranks differ most between the chosen rows, at most MOST_MARKED.
function disagreed(task, chosen) {
  const spread = (place) => {
    const ranks = chosen.map((row) => task.ranks[row][place]);
    return ranks.includes(null) ? 0 : Math.max(...ranks) - Math.min(...ranks);
  };
  const places = task.models.map((_, place) => place).filter((place) => spread(place) > 0);
  return places.sort((one, other) => spread(other) - spread(one)).slice(0, MOST_MARKED);
}

function plot(task, row, marked) {
  const most = task.ranks[row].filter((rank) => rank !== null).length;
  const at = (rank, last) => 10 + (SIZE - 20) * rank / (last + 1);
  const svg = make("svg", { viewBox: `0 -10 ${SIZE} ${SIZE + 20}`, role: "img", "aria-label": `${COMPARED.rows[row].name} on ${task.name}` },
    make("path", { class: "frame", d: `M10 10V${SIZE - 10}H${SIZE - 10}` }), make("path", { class: "grid", d: `M10 ${SIZE - 10}L${SIZE - 10} 10` }),
    make("text", { x: 10, y: 0 }, most ? `rank of the value: 1 (smallest) to ${most}` : "no value"),
    make("text", { class: "end", x: SIZE - 10, y: SIZE + 6 }, `rank of the gap: 1 (smallest) to ${task.models.length}`));
  task.ranks[row].forEach((rank, place) => {
    if (rank === null) return;
    const looks = { class: marked.includes(place) ? "c1 ringed" : "c0", cx: at(task.gaps[place], task.models.length), cy: SIZE - at(rank, most), r: 5 };
    svg.append(make("circle", looks, make("title", {}, `${task.models[place]}; gap rank ${task.gaps[place]}, rank ${rank}`)));
  });
  const link = make("a", { href: COMPARED.rows[row].page }, COMPARED.rows[row].name);
  return make("figure", { class: "plot" }, svg, make("figcaption", {}, link, `: ${task.scores[row]}`));
}

function list(task, chosen, marked) {
  const heading = (text) => make("th", { scope: "col" }, text);
  const names = chosen.map((row) => heading(`rank by ${COMPARED.rows[row].name.replaceAll("_", "_\u200b")}`));
  const head = make("thead", {}, make("tr", {}, heading("network"), heading("rank of the gap"), ...names));
  const lines = marked.map((place) => make("tr", {}, ...[task.models[place], task.gaps[place],
    ...chosen.map((row) => task.ranks[row][place])].map((text) => make("td", {}, String(text)))));
  const table = make("table", {}, make("caption", {}, "Where they disagree most"), head, make("tbody", {}, ...lines));
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `disagreements on ${task.name}` }, table);
}

function show(form) {
  const chosen = [...form.elements].map((choice) => choice.value).filter(Boolean).map(Number);
  const sections = COMPARED.tasks.map((task) => {
    const section = make("section", {}, make("h2", {}, task.name));
    if (!task.models.length) {
      section.append(make("p", {}, `Hidden: ${chosen.map((row) => `${COMPARED.rows[row].name} ${task.scores[row]}`).join(", ")}.`));
      return section;
    }
    const marked = disagreed(task, chosen);
    section.append(make("div", { class: "strips" }, ...chosen.map((row) => plot(task, row, marked))));
    if (marked.length) section.append(list(task, chosen, marked));
    return section;
  });
  document.getElementById("compared").replaceChildren(...sections);
  history.replaceState(null, "", `?${chosen.map((row) => `of=${row}`).join("&")}`);
}

const form = document.getElementById("chosen");
const asked = new URLSearchParams(location.search).getAll("of").map(Number).filter((row) => COMPARED.rows[row]);
[...form.elements].forEach((choice, place) => {
  if (place === 2) choice.append(make("option", { value: "" }, "–"));
  COMPARED.rows.forEach((row, number) => choice.append(make("option", { value: number }, `${row.name} (${row.score})`)));
  choice.value = asked[place] ?? (place === 2 ? "" : Math.min(COMPARED.rows.length - 1, [0, asked[0] === 1 ? 0 : 1][place]));
});
form.hidden = false;
form.addEventListener("change", () => show(form));
if (COMPARED.rows.length) show(form);
