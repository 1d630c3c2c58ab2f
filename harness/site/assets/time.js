// The plot of score against time: ticks and names that fit its size, and a way through its dots by keyboard.
"use strict";

const KINDS = { submission: 0, baseline: 6 };
const SIZE = 12;
const LONGEST = 28;
const DOT = 8;

const wrapped = (text) => text.match(/.{1,36}/gs).map(plain).join("<br>");

function time(chart) {
  const kinds = Object.keys(KINDS).filter((kind) => chart.points.some((point) => point.kind === kind));
  const traces = kinds.map((kind) => {
    const chosen = chart.points.filter((point) => point.kind === kind);
    const colour = kinds.length > 1 ? KINDS[kind] : 0;
    return {
      type: "scatter", mode: "markers", name: kind, customdata: chosen,
      x: chosen.map((point) => point.seconds), y: chosen.map((point) => point.score),
      text: chosen.map((point) => wrapped(point.name)),
      cliponaxis: false, hovertemplate: "%{text}<br>%{x:.3g} s per model<br>score %{y:.2f}<extra></extra>",
      error_y: {
        type: "data", symmetric: false, thickness: 1, width: 0, color: style("--faint"),
        array: chosen.map((point) => (point.high === null ? 0 : point.high - point.score)),
        arrayminus: chosen.map((point) => (point.low === null ? 0 : point.score - point.low)),
      },
      marker: {
        size: 10, color: COLOURS[colour], symbol: SYMBOLS[colour],
        line: { width: chosen.map((point) => (point.front ? 3 : 0)), color: style("--ink") },
      },
    };
  });
  return [traces, layout("seconds per model (logarithmic)", "score", { legend: kinds.length > 1 && " ", ...ranges(chart) })];
}

// Ranges are given, since names would otherwise change them.
function ranges(chart) {
  const seconds = chart.points.map((point) => Math.log10(point.seconds));
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
  const beside = Math.max(0.15, 0.06 * (most - least));
  const top = Math.max(1, ...chart.points.map((point) => point.high ?? point.score));
  return { x: { type: "log", range: [least - beside, most + beside] }, y: { range: [-0.02 * top, 1.06 * top] } };
}

function widthOf(text) {
  const context = widthOf.context ??= document.createElement("canvas").getContext("2d");
  context.font = `${SIZE}px system-ui, sans-serif`;
  return context.measureText(text).width;
}

const overlap = (one, other) => one.x0 < other.x1 && other.x0 < one.x1 && one.y0 < other.y1 && other.y0 < one.y1;

// Where a name of this size may stand beside a dot, the best place first.
function placesBeside({ x, y }, width, height) {
  const [right, left, centre] = [x + DOT, x - DOT - width, x - width / 2];
  const [middle, above, below] = [y - height / 2, y - DOT - height, y + DOT];
  const corners = [
    [right, middle], [left, middle], [right, above], [left, above], [right, below], [left, below], [centre, above], [centre, below],
  ];
  return corners.map(([x0, y0]) => ({ x0, y0, x1: x0 + width, y1: y0 + height }));
}

// Names of the dots on the front, each beside its dot, inside the plot, and where no other name is; the others have no place.
function names(chart, xaxis, yaxis) {
  const dots = chart.points.map((point) => ({ point, x: xaxis.d2p(point.seconds), y: yaxis.d2p(point.score) }));
  const around = ({ x, y }) => ({ x0: x - DOT, x1: x + DOT, y0: y - DOT, y1: y + DOT });
  const front = dots.filter((dot) => dot.point.front).sort((one, other) => other.point.score - one.point.score);
  const taken = front.map(around);
  const found = [];
  front.forEach((dot) => {
    const { name } = dot.point;
    const text = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
    const [width, height] = [widthOf(text) + 4, SIZE + 4];
    const free = placesBeside(dot, width, height).filter((box) =>
      box.x0 >= 0 && box.x1 <= xaxis._length && box.y0 >= 0 && box.y1 <= yaxis._length && !taken.some((other) => overlap(box, other)));
    const covered = (box) => dots.filter((other) => overlap(box, around(other))).length;
    const [best] = free.sort((one, other) => covered(one) - covered(other));
    if (!best) return;
    taken.push(best);
    found.push({
      text: plain(text), showarrow: false, font: { size: SIZE }, captureevents: false, xref: "x domain", yref: "y domain",
      x: (best.x0 + width / 2) / xaxis._length, y: 1 - (best.y0 + height / 2) / yaxis._length, xanchor: "center", yanchor: "middle",
    });
  });
  return found;
}

// Gives a plot of its present size ticks and names; does nothing if it has them already.
function fitTime(canvas, chart) {
  const { xaxis, yaxis } = canvas._fullLayout;
  const [low, high] = xaxis.range.map((decade) => 10 ** decade);
  const widest = Math.max(0, ...logTicks(low, high, 0).map((tick) => widthOf(String(tick))));
  const ticks = logTicks(low, high, (widest + SIZE) / xaxis._length * Math.log10(high / low));
  const change = { "xaxis.tickvals": ticks, "xaxis.ticktext": ticks.map(String), annotations: names(chart, xaxis, yaxis) };
  const text = JSON.stringify(change);
  if (canvas.dataset.fitted === text) return;
  canvas.dataset.fitted = text;
  Plotly.relayout(canvas, change);
}

// Arrow keys go from dot to dot, the fastest first; Enter, Space or a click opens the page of one.
function steer(canvas, chart, output) {
  const dots = () => canvas.data
    .flatMap((trace, curveNumber) => trace.customdata.map((point, pointNumber) => ({ point, curveNumber, pointNumber })))
    .sort((one, other) => one.point.seconds - other.point.seconds);
  let place = -1;
  const tell = ({ name, seconds, score }) => {
    output.textContent = `${name}: ${Number(seconds.toPrecision(3))} s per model, score ${score.toFixed(2)}`;
  };
  const open = (point) => { location.href = point.page; };
  canvas.tabIndex = 0;
  canvas.addEventListener("keydown", (event) => {
    const all = dots();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      place = Math.min(all.length - 1, Math.max(0, place + step));
      Plotly.Fx.hover(canvas, [all[place]]);
      tell(all[place].point);
    } else if ((event.key === "Enter" || event.key === " ") && place >= 0) {
      open(all[place].point);
    } else return;
    event.preventDefault();
  });
  canvas.on("plotly_hover", (event) => tell(event.points[0].customdata));
  canvas.on("plotly_click", (event) => open(event.points[0].customdata));
  canvas.on("plotly_relayout", () => fitTime(canvas, chart));
}
