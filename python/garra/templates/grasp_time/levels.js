// What one level of friction shows: survival, quantiles over time, histograms.
"use strict";
const GraspLevels = (() => {
  const SIZE = [310, 200];

  function overTime(time) {
    return { label: "time [s]", range: [time[0], time[time.length - 1]] };
  }

  function survival(level) {
    const { time, drop, slip } = level.survival;
    const curve = (table, color) => ({ x: time, y: table.probability, color });
    const band = (table, color) => ({ x: time, low: table.low, high: table.high, color });
    return { name: "Survival over time", size: SIZE, x: overTime(time), y: { label: "share", range: [-0.03, 1.03] },
      areas: [band(slip, "accent"), band(drop, "held")], lines: [curve(slip, "accent"), curve(drop, "held")] };
  }

  function band(level, key, { label, limit }) {
    const table = level.bands[key], x = level.time, { q05, q25, q50, q75, q95 } = table;
    const range = Plots.range([q05, q95], [0]), seen = limit !== null && limit <= 3 * range[1];
    return { name: `${label} over time`, size: SIZE, x: overTime(x),
      y: { label: table.unit ? `${label.toLowerCase()} [${table.unit}]` : label.toLowerCase(),
        range: seen ? Plots.range([q05, q95], [0, limit]) : range },
      areas: [{ x, low: q05, high: q95, color: "accent" }, { x, low: q25, high: q75, color: "accent", opacity: 0.3 }],
      lines: [{ x, y: q50, color: "accent" }], levels: seen ? [limit] : [] };
  }

  // A histogram as the region under its steps, with its 5, 50 and 95 % quantiles.
  function histogram(level, key, label) {
    const { edges, density, marks, unit } = level.histograms[key];
    const x = edges.flatMap((v) => [v, v]), high = [0, ...density.flatMap((v) => [v, v]), 0];
    const lines = marks.filter((v) => v !== null).map((v, i) =>
      ({ x: [v, v], y: [0, 1.08], color: "ink", dash: marks.length === 3 && i === 1 ? "none" : "3 2" }));
    return { name: `Histogram: ${label}`, size: SIZE, bare: true,
      x: { label: unit ? `${label.toLowerCase()} [${unit}]` : label.toLowerCase(), range: [edges[0], edges[edges.length - 1]] },
      y: { label: "", range: [0, 1.1] },
      areas: [{ x, low: x.map(() => 0), high, color: "accent", opacity: 0.45 }], lines };
  }

  function specOf(data, level, key) {
    if (key === "survival") return survival(level);
    if (level.bands[key] && data.curves[key]) return band(level, key, data.curves[key]);
    const found = level.histograms[key];
    return found && found.density.length ? histogram(level, key, data.metrics[key]) : null;
  }

  function show(page, data, k) {
    const level = data.levels[k], { alive } = level;
    page.querySelectorAll("[data-level-plot]").forEach((host) => {
      const spec = specOf(data, level, host.dataset.levelPlot);
      if (spec) Plots.draw(host, spec);
      else host.textContent = "no value at this level";
    });
    page.querySelectorAll("[data-level-name]").forEach((host) => { host.textContent = level.name; });
    const most = alive.length ? Math.max(...alive) : 0, end = alive.length ? alive[alive.length - 1] : 0;
    page.getElementById("alive").textContent =
      `${most.toLocaleString("en")} grasps at the start, ${end.toLocaleString("en")} still in the hand at the end.`;
  }

  function start(page, data) {
    const select = page.getElementById("level");
    // The level that tells most: the one whose survival ends nearest to one half.
    const ends = data.levels.map(({ survival: { drop } }) => drop.probability[drop.probability.length - 1]);
    const away = ends.map((p) => (p === null || p === undefined ? 2 : Math.abs(p - 0.5)));
    const first = away.indexOf(Math.min(...away));
    if (select) {
      select.value = first;
      select.addEventListener("change", () => show(page, data, Number(select.value)));
    }
    show(page, data, first);
  }

  return { start };
})();
