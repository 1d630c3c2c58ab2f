// Ticks of a logarithmic axis, as those of harness/log_axis.py: 1, 2 and 5, neighbours at least `room` decades apart.
"use strict";

function* steps(smallest) {
  for (let exponent = 0; ; exponent += 1) for (const digit of [1, 2, 5]) yield Number(`${digit}e${exponent}`) * smallest;
}

function logTicks(low, high, room) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const exponents = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  let every = 0;
  for (const step of steps(1)) if ((every = step) >= room) break;
  const ticks = exponents.filter((exponent) => exponent % every === 0).map((exponent) => Number(`1e${exponent}`));
  if (every === 1) ticks.push(...exponents.flatMap((exponent) => [Number(`2e${exponent}`), Number(`5e${exponent}`)]));
  const chosen = [];
  ticks.filter((tick) => low <= tick && tick <= high).forEach((tick) => {
    if (chosen.every((other) => Math.abs(Math.log10(tick / other)) >= room)) chosen.push(tick);
  });
  return chosen.length > 1 ? chosen.sort((a, b) => a - b) : equalSteps(low, high, room) || chosen;
}

// At least two multiples of the smallest step for which they have room; null if there is no such step.
function equalSteps(low, high, room) {
  if (high <= low) return null;
  for (const step of steps(10 ** (Math.floor(Math.log10(high - low)) - 1))) {
    if (step >= high) return null;
    const first = Math.ceil(low / step);
    const numbers = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, place) => first + place);
    const ticks = numbers.map((number) => Number((number * step).toPrecision(12)));
    if (ticks.length > 1 && ticks.every((tick, place) => !place || Math.log10(tick / ticks[place - 1]) >= room)) return ticks;
  }
}
