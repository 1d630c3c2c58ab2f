// Adds interaction to plots: descriptions of dots, and the choice of colours and axes. Without this script, pages still show all numbers.
"use strict";

document.querySelectorAll("figure.plot").forEach((figure) => {
  const svg = figure.querySelector("svg");
  const dots = [...svg.querySelectorAll("circle")];
  const output = figure.querySelector("output");
  const textOf = (dot) => dot.querySelector("title").textContent;
  let current = null;

  function tell(dot) {
    current?.classList.remove("told");
    current = dot;
    dot.classList.add("told");
    output.textContent = textOf(dot);
  }

  // Colours follow the chosen legend; each dot has the number of its colour in every legend.
  function colour(chosen) {
    const legends = [...figure.querySelectorAll(".legend")];
    const place = legends.findIndex((legend) => legend.dataset.by === chosen);
    legends.forEach((legend, number) => { legend.hidden = number !== place; });
    dots.forEach((dot) => { dot.classList.replace([...dot.classList].find((name) => /^c\d$/.test(name)), `c${dot.dataset.by.split(" ")[place] % 8}`); });
  }

  function look(view) {
    svg.querySelectorAll(".view").forEach((other) => { other.classList.toggle("unseen", !other.classList.contains(view)); });
    dots.forEach((dot) => { [dot.cx.baseVal.value, dot.cy.baseVal.value] = dot.dataset[view].split(" ").map(Number); });
  }

  figure.querySelectorAll(".choices").forEach((choices) => { choices.hidden = false; });
  figure.addEventListener("change", ({ target }) => (target.name === "by" ? colour(target.value) : look(target.value)));
  svg.addEventListener("pointerover", ({ target }) => { if (target.matches("circle")) tell(target); });

  // By keyboard: arrow keys go from dot to dot, from left to right; Enter or Space opens the page of a dot.
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const link = (event.key === "Enter" || event.key === " ") && current?.closest("a");
    if (!step && !link) return;
    event.preventDefault();
    if (link) location.href = link.getAttribute("href");
    const inOrder = [...dots].sort((one, other) => one.cx.baseVal.value - other.cx.baseVal.value);
    if (step) tell(inOrder[Math.min(dots.length - 1, Math.max(0, inOrder.indexOf(current) + step))]);
  });
});

// A click on a hyperparameter in a sentence colours the plot beside it.
document.querySelectorAll("mark[data-by]").forEach((mark) => {
  const choice = mark.closest("details").querySelector("select[name=by]");
  if (!choice) return;
  const button = document.createElement("button");
  button.type = "button";
  button.title = "colour the plot by it";
  button.append(...mark.childNodes);
  mark.append(button);
  button.addEventListener("click", () => {
    choice.value = mark.dataset.by;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
  });
});
