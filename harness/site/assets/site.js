// Sorts and filters tables, and draws plots. Without it all numbers can still be read.
"use strict";

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a8f98", "#f0e442"];
const SYMBOLS = ["circle", "square", "diamond", "cross", "triangle-up", "x", "star", "triangle-down"];
const KINDS = { submission: 0, baseline: 6 };
const OPTIONS = { displayModeBar: false, responsive: true };

// Text of strangers must not be markup to Plotly, which knows <b>, <a> and others.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function layout(xTitle, yTitle, more = {}) {
  const axis = (title, own) => Object.assign(
    { title: { text: title }, gridcolor: style("--line"), zeroline: false, automargin: true }, own);
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", color: style("--ink") },
    margin: { t: 12, r: 12, b: 48, l: 60 }, hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, title: { text: more.legend || "" } },
    showlegend: Boolean(more.legend), shapes: more.shapes || [],
    xaxis: axis(xTitle, more.x), yaxis: axis(yTitle, more.y),
  };
}

function scatter(chart, by) {
  const values = chart.by[by] || chart.models.map(() => "");
  const traces = [...new Set(values)].map((value, number) => {
    const chosen = chart.models.map((_, i) => i).filter((i) => values[i] === value);
    return {
      type: "scatter", mode: "markers", name: plain(value),
      x: chosen.map((i) => chart.gap[i]), y: chosen.map((i) => chart.value[i]),
      text: chosen.map((i) => plain(chart.models[i]) + "<br>"
        + Object.entries(chart.by).map(([name, all]) => `${plain(name)}: ${plain(all[i])}`).join("<br>")),
      hovertemplate: "%{text}<br>gap %{x:.4f}<br>value %{y:.6g}<extra></extra>",
      marker: { size: 9, color: COLOURS[number % 8], symbol: SYMBOLS[number % 8], line: { width: 1, color: style("--paper") } },
    };
  });
  return [traces, layout("generalization gap", plain(chart.measure), { legend: by && plain(by) })];
}

function heatmap(chart) {
  const names = chart.names.map(plain);
  const known = chart.points.flat().filter((value) => value !== null);
  const least = Math.min(...known);
  const cells = [];
  chart.points.forEach((line, i) => line.forEach((value, j) => { if (value === least) cells.push([j, i]); }));
  const shapes = cells.map(([x, y]) => ({
    type: "rect", x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5, line: { width: 4, color: "#d55e00" } }));
  const trace = {
    type: "heatmap", x: names, y: names, z: chart.points, colorscale: "Viridis", hoverongaps: false,
    text: chart.points.map((line) => line.map((value) => (value === null ? "" : value.toFixed(1)))),
    texttemplate: "%{text}", hovertemplate: "%{x} and %{y}: %{z:.2f}<extra></extra>", colorbar: { title: { text: "score" } },
  };
  return [[trace], layout("", "", { shapes, x: { type: "category" }, y: { type: "category", autorange: "reversed" } })];
}

function histogram(chart) {
  const trace = { type: "histogram", x: chart.gap, marker: { color: style("--accent") }, hovertemplate: "%{x}: %{y} models<extra></extra>" };
  return [[trace], layout("generalization gap", "models")];
}

function time(chart) {
  const traces = Object.keys(KINDS).map((kind) => {
    const chosen = chart.points.filter((point) => point.kind === kind);
    return {
      type: "scatter", mode: "markers", name: kind, customdata: chosen.map((point) => point.page),
      x: chosen.map((point) => point.seconds), y: chosen.map((point) => point.score), text: chosen.map((point) => plain(point.name)),
      cliponaxis: false, hovertemplate: "%{text}<br>%{x:.3g} s per model<br>score %{y:.2f}<extra></extra>",
      error_y: {
        type: "data", symmetric: false, thickness: 1, width: 0, color: style("--faint"),
        array: chosen.map((point) => (point.high === null ? 0 : point.high - point.score)),
        arrayminus: chosen.map((point) => (point.low === null ? 0 : point.score - point.low)),
      },
      marker: {
        size: 10, color: COLOURS[KINDS[kind]], symbol: SYMBOLS[KINDS[kind]],
        line: { width: chosen.map((point) => (point.front ? 3 : 0)), color: style("--ink") },
      },
    };
  }).filter((trace) => trace.x.length);
  return [traces, layout("seconds per model", "score", { legend: " ", x: { type: "log" }, y: { rangemode: "tozero" } })];
}

const DRAW = { scatter, heatmap, histogram, time };

function draw(figure) {
  const canvas = figure.querySelector(".canvas");
  const chart = JSON.parse(figure.querySelector("script").textContent);
  const choice = figure.querySelector(".colour-by");
  const [traces, described] = DRAW[chart.kind](chart, choice ? choice.value : "");
  Plotly.react(canvas, traces, described, OPTIONS);
}

function compare(a, b, kind) {
  if (kind === "text") return a.localeCompare(b);
  if (a === "" || b === "") return (a === "") - (b === "");
  return Number(a) - Number(b);
}

function sort(table, column, heading) {
  const rising = heading.getAttribute("aria-sort") !== "ascending";
  const kind = heading.dataset.sort;
  const value = (row) => (kind === "text" ? row.cells[column].textContent : row.cells[column].dataset.value);
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const empty = kind === "number" && (value(one) === "" || value(other) === "");
    return compare(value(one), value(other), kind) * (rising || empty ? 1 : -1);
  });
  table.tHead.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
  table.classList.add("resorted");
}

document.querySelectorAll("table.sortable").forEach((table) => {
  table.tHead.querySelectorAll("th").forEach((heading, column) => {
    if (!heading.dataset.sort) return;
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, column, heading));
  });
});

// Shows the rows of a kind whose texts hold all words that are looked for.
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

document.querySelectorAll(".board").forEach((board) => {
  const fit = () => board.classList.toggle("fits", board.firstElementChild.offsetWidth <= board.parentElement.clientWidth);
  new ResizeObserver(fit).observe(document.body);
});

const figures = [...document.querySelectorAll("figure.plot")];
figures.forEach((figure) => {
  draw(figure);
  const choice = figure.querySelector(".colour-by");
  if (choice) choice.addEventListener("change", () => draw(figure));
  const canvas = figure.querySelector(".canvas");
  if (canvas.classList.contains("time")) canvas.on("plotly_click", (event) => { location.href = event.points[0].customdata; });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(draw));
