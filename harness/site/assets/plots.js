// Draws the plots. Without it all their numbers can still be read.
"use strict";

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a8f98", "#f0e442"];
const SYMBOLS = ["circle", "square", "diamond", "cross", "triangle-up", "x", "star", "triangle-down"];
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
    margin: { t: 12, r: 12, b: 48, l: 60 }, hovermode: "closest", hoverlabel: { align: "left" },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    legend: {
      orientation: "h", y: 1.02, yanchor: "bottom", x: 0, title: { text: more.legend || "" }, itemclick: false, itemdoubleclick: false,
    },
    showlegend: Boolean(more.legend), shapes: more.shapes || [],
    xaxis: axis(xTitle, more.x), yaxis: axis(yTitle, more.y),
  };
}

const AXES = {
  rank: ["rank of the gap (1: smallest)", "rank of the measure (1: smallest)"],
  value: ["generalization gap", "value of the measure"],
};

function scatter(chart, { by = "", axes }) {
  const values = chart.by[by] || chart.models.map(() => "");
  const traces = [...new Set(values)].map((value, number) => {
    const chosen = chart.models.map((_, i) => i).filter((i) => values[i] === value);
    const rank = (of, i) => `rank ${of.rank[i]} of ${chart.models.length}`;
    return {
      type: "scatter", mode: "markers", name: plain(value),
      x: chosen.map((i) => chart.gap[axes][i]), y: chosen.map((i) => chart.measure[axes][i]),
      text: chosen.map((i) => [
        plain(chart.models[i]), `gap ${chart.gap.value[i].toFixed(4)}, ${rank(chart.gap, i)}`,
        `value ${Number(chart.measure.value[i].toPrecision(6))}, ${rank(chart.measure, i)}`,
        ...Object.entries(chart.by).map(([name, all]) => `${plain(name)}: ${plain(all[i])}`)].join("<br>")),
      hovertemplate: "%{text}<extra></extra>",
      marker: { size: 9, color: COLOURS[number % 8], symbol: SYMBOLS[number % 8], line: { width: 1, color: style("--paper") } },
    };
  });
  return [traces, layout(...AXES[axes], { legend: by && plain(by) })];
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

const DRAW = { scatter, heatmap, histogram, time };

function draw(figure) {
  const canvas = figure.querySelector(".canvas");
  const chart = JSON.parse(figure.querySelector("script").textContent);
  const choices = Object.fromEntries([...figure.querySelectorAll("select")].map((choice) => [choice.name, choice.value]));
  const [traces, described] = DRAW[chart.kind](chart, choices);
  Plotly.react(canvas, traces, described, OPTIONS);
  if (chart.kind !== "time") return;
  if (!canvas.hasAttribute("tabindex")) steer(canvas, chart, figure.querySelector("output"));
  delete canvas.dataset.fitted;
  fitTime(canvas, chart);
}

const figures = [...document.querySelectorAll("figure.plot")];
figures.forEach((figure) => {
  draw(figure);
  figure.addEventListener("change", () => draw(figure));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(draw));
