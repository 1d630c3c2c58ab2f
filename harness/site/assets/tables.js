// Sorts and filters tables. Without this script, pages still show all rows.
"use strict";

function compare(a, b, kind) {
  if (kind === "text") return a.localeCompare(b, undefined, { numeric: true });
  if (a === "" || b === "") return (a === "") - (b === "");
  return Number(a) - Number(b);
}

// Sorts by a column, best first, then the other way round; rows with equal values keep their first order.
function sort(table, places, column, heading) {
  const other = { ascending: "descending", descending: "ascending" };
  const direction = other[heading.getAttribute("aria-sort")] ?? heading.dataset.first;
  const rising = direction === "ascending";
  const kind = heading.dataset.sort;
  const value = (row) => (kind === "text" ? row.cells[column].textContent : row.cells[column].dataset.value);
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, next) => {
    const empty = kind === "number" && (value(one) === "" || value(next) === "");
    const found = compare(value(one), value(next), kind) * (rising || empty ? 1 : -1);
    return found || places.get(one) - places.get(next);
  });
  table.tHead.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", direction);
  table.tBodies[0].append(...rows);
  table.classList.toggle("resorted", rows.some((row, place) => places.get(row) !== place));
}

document.querySelectorAll("table.sortable").forEach((table) => {
  const places = new Map([...table.tBodies[0].rows].map((row, place) => [row, place]));
  table.tHead.querySelectorAll("th").forEach((heading, column) => {
    if (!heading.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, places, column, heading));
  });
});

// Shows the rows of the chosen kind that contain all words of the search.
function filter(form, rows) {
  const words = form.querySelector("input").value.toLowerCase().split(/\s+/);
  const kind = form.querySelector("select")?.value;
  const shown = rows.filter((row) => {
    const text = row.textContent.toLowerCase();
    row.hidden = !((!kind || row.classList.contains(kind)) && words.every((word) => text.includes(word)));
    return !row.hidden;
  });
  form.querySelector("output").textContent = `${shown.length} of ${rows.length} rows`;
}

document.querySelectorAll("form.filter").forEach((form) => {
  const rows = [...document.querySelectorAll(".board tbody tr")];
  form.hidden = rows.length < 2;
  form.addEventListener("input", () => filter(form, rows));
  form.addEventListener("submit", (event) => event.preventDefault());
  filter(form, rows);
});
