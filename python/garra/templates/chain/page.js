// Puts animation, plots and controls together: the state is which designs are shown, the time, and whether it runs.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("chain-data").textContent);
  data.designs.forEach((d) => { d.size = 3 * (data.joints.length + 2); });
  const find = (id) => document.getElementById(id);
  const canvas = find("scene"), slider = find("time"), play = find("play");
    const scene = Scene.make(canvas, data);
  const times = data.times, end = times[times.length - 1];
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const wide = canvas.clientWidth > 640;
  const state = { chosen: [...data.chosen], time: 0, playing: false, rest: 0, apart: wide };
  let plots = [];

  // The chosen designs with their slots, which are their colors.
  const shown = () =>
    state.chosen.map((index, slot) => ({ slot, design: data.designs[index] })).filter((s) => s.design);

  function placeOf(time) {
    let low = 0, high = times.length - 2;
    while (low < high) {
      const half = (low + high + 1) >> 1;
      if (times[half] <= time) low = half; else high = half - 1;
    }
    return [low, Math.min((time - times[low]) / (times[low + 1] - times[low]), 1)];
  }

  // --- plots

  const POSES = 8;  // steps between the first and the last pose shown
  const limit = data.within === null ? end : Math.min(data.within, end);
  const walls = data.within === null ? [] : [data.within];
  const hue = (s) => Scene.HUES[s.slot];
  const lastTime = () => (find("window").value === "limit" ? Math.min(2 * data.within, end) : end);
  const overTime = () => ({ label: `t [${data.time}]`, range: [0, lastTime()] });

  function series(key, joint) {
    return shown().map((s) => ({ x: times, y: s.design[key][joint], color: hue(s) }));
  }

  function valueAt(list, time) {
    return time === null || time > end ? null : Plots.between(list, placeOf(time));
  }

  const SPECS = {
    q(joint) {
      const { q: unit, at, band, name } = data.joints[joint], lines = series("q", joint);
      const place = at === null ? [] : band === null ? [at] : [at - band, at + band];
      const dots = shown().map(({ design }, i) =>
        ({ x: design.settled, y: valueAt(lines[i].y, design.settled), color: lines[i].color }))
        .filter(() => data.within !== null);
      return { name: `${name}: position over time`, size: [310, 200], x: overTime(), cursor: true, followed: lines,
        y: { label: `q [${unit}]`, range: Plots.range(lines.map((l) => l.y), place) },
        bands: place.length === 2 ? [place] : [], lines, walls, dots };
    },
    phase(joint) {
      const { q: unit, qd: rate, at, band, speed, name } = data.joints[joint];
      const lines = shown().map((s) => ({ x: s.design.q[joint], y: s.design.qd[joint], color: hue(s) }));
      const x = { label: `q [${unit}]`, range: Plots.range(lines.map((l) => l.x), at === null ? [] : [at]) };
      const rest = at === null || band === null ? x.range : [at - band, at + band];
      const dots = shown().map((s, i) => ({ x: lines[i].x[0], y: lines[i].y[0], color: "ink" }));
      return { name: `${name}: phase portrait`, size: [310, 200], x, lines, followed: lines, dots,
        boxes: speed === null ? [] : [[...rest, -speed, speed]],
        y: { label: `dq/dt [${rate}]`, range: Plots.range(lines.map((l) => l.y), [0]) } };
    },
    torque(joint) {
      const { torque: unit, name, prismatic } = data.joints[joint], lines = series("torque", joint);
      return { name: `${name}: ${prismatic ? "force" : "torque"} over time`, size: [310, 200], x: overTime(), lines,
        walls, cursor: true, followed: lines,
        y: { label: `τ [${unit}]`, range: Plots.range(lines.map((l) => l.y), [0]) } };
    },
    energy(slot) {
      const every = shown().map((s) => s.design.energies).flat();
      const styles = [["accent"], ["held"], ["slip"], ["ink", "5 3"]];
      const lines = data.designs[state.chosen[slot]].energies.map((y, i) =>
        ({ x: times, y, color: styles[i][0], dash: styles[i][1] }));
      return { name: "Energies over time", size: [310, 200], x: overTime(), lines, walls, cursor: true,
        y: { label: `energy [${data.energy}]`, range: Plots.range(every, [0]) } };
    },
    poses(slot) {  // the chain at nine times up to the limit, the later the darker
      const design = data.designs[state.chosen[slot]], [a, b] = data.views[0], color = Scene.HUES[slot];
      const moments = [...Array(POSES + 1).keys()].map((i) => i / POSES * limit);
      const poses = moments.map((time) => Scene.pose(design, placeOf(time))).filter((pose) => pose);
      const along = (c) => [1e3 * data.low[c], 1e3 * data.high[c]];
      const lines = poses.map((points, i) => ({ x: points.map((p) => 1e3 * p[a]), y: points.map((p) => 1e3 * p[b]),
        color, opacity: 0.2 + 0.8 * i / POSES }));
      const every = `${+(limit / POSES).toPrecision(3)} ${data.time}`;
      return { name: `Poses every ${every}`, size: [310, 250], equal: true, lines,
        dots: lines.map((l) => ({ x: l.x[l.x.length - 1], y: l.y[l.y.length - 1], color })),
        x: { label: `${"xyz"[a]} [mm], every ${every}`, range: Plots.range([along(a)]) },
        y: { label: `${"xyz"[b]} [mm]`, range: Plots.range([along(b)]) } };
    },
    balance() {
      const lines = shown().map((s) => ({ x: times, y: s.design.balance, color: hue(s) }));
      const size = data.views.length > 1 ? [1000, 220] : [400, 260];
      return { name: "Energy balance over time", size, x: overTime(), lines, cursor: true, followed: lines,
        y: { label: `balance [${data.balance}]`, range: Plots.range(lines.map((l) => l.y), [0]) } };
    },
    tip(view) {
      const lines = shown().map((s) => {
        const axis = (c) => times.map((_, i) => {
          const v = s.design.points[(i + 1) * s.design.size - 3 + c];
          return v === null ? null : 1e3 * v;
        });
        return { x: axis(data.views[view][0]), y: axis(data.views[view][1]), color: hue(s) };
      });
      const [a, b] = data.views[view].map((c) => "xyz"[c]);
      const size = data.views.length > 1 ? [310, 240] : [400, 290];
      return { name: `Path of the tip, ${a} and ${b}`, size, equal: true, lines, followed: lines,
        dots: lines.map((l) => ({ x: l.x[0], y: l.y[0], color: "ink" })),
        x: { label: `${a} [mm]`, range: Plots.range(lines.map((l) => l.x)) },
        y: { label: `${b} [mm]`, range: Plots.range(lines.map((l) => l.y)) } };
    },
  };

  function drawPlots() {
    plots = [];
    document.querySelectorAll("[data-plot]").forEach((host) => {
      const number = Number(host.dataset.of);
      const absent = ["energy", "poses"].includes(host.dataset.plot) && !data.designs[state.chosen[number]];
      host.closest("figure").hidden = absent;
      if (!absent) plots.push(Plots.draw(host, SPECS[host.dataset.plot](number)));
    });
  }

  // --- designs

  function facts(design) {
    const time = design.settled === null ? null : `${+design.settled.toPrecision(3)} ${data.time}`;
    const ended = design.status === "completed" ? "" : `; ended early: ${design.status}`;
    if (data.within === null) return `with nominal inputs: ${design.status}`;
    return `P = ${design.probability}, median ${design.median}; with nominal inputs ` +
      `${time ? `settles after ${time}` : "does not settle"}${ended}`;
  }

  function describe() {
    state.chosen.forEach((index, slot) => {
      const design = data.designs[index];
      find(`facts-${slot}`).textContent = design ? facts(design) : "";
      document.querySelectorAll(`[data-key="${slot}"]`).forEach((e) => { e.hidden = !design; });
      const label = design ? design.label : "";
      document.querySelectorAll(`[data-name="${slot}"]`).forEach((e) => { e.textContent = label; });
    });
  }

  function choose(slot, index) {
    state.chosen[slot] = index;
    describe();
    drawPlots();
    render();
  }

  document.querySelectorAll("select[data-slot]").forEach((select) => {
    const slot = Number(select.dataset.slot);
    if (slot) select.add(new Option("none", -1));
    data.designs.forEach((d, i) => select.add(new Option(data.within === null ? d.label : `${d.label}  (P ${d.probability})`, i)));
    if (state.chosen[slot] === undefined) state.chosen[slot] = -1;
    select.value = state.chosen[slot];
    select.addEventListener("change", () => choose(slot, Number(select.value)));
  });

  // --- time

  function render() {
    const place = placeOf(state.time);
    scene.draw(shown(), place, state.apart);
    plots.forEach((plot) => plot.at(state.time, place));
    slider.value = state.time / end;
    const digits = Math.max(0, 2 - Math.floor(Math.log10(end)));
    find("now").textContent = `${state.time.toFixed(digits)} ${data.time}`;
    slider.setAttribute("aria-valuetext", find("now").textContent);
  }

  let last = 0;
  function tick(stamp) {
    if (!state.playing) return;
    const seconds = Math.min((stamp - last) / 1000, 0.1);
    last = stamp;
    if (state.time >= end) {
      state.rest += seconds;
      if (state.rest > 1) { state.time = 0; state.rest = 0; }
    } else {
      state.time = Math.min(state.time + seconds * data.second * Number(find("speed").value), end);
    }
    render();
    requestAnimationFrame(tick);
  }

  function run(on) {
    if (on && !state.playing) requestAnimationFrame((stamp) => { last = stamp; tick(stamp); });
    if (on && state.time >= end) state.time = 0;
    Object.assign(state, { playing: on, rest: 0 });
    play.textContent = on ? "Pause" : "Play";
    play.setAttribute("aria-pressed", on);
  }

  function seek(time) {
    run(false);
    state.time = Math.min(Math.max(time, 0), end);
    render();
  }

  function pickSpeed() {  // the one with which the motion takes nearest to eight seconds
    const wanted = Math.log(end / data.second / 8);
    const away = (option) => Math.abs(Math.log(Number(option.value)) - wanted);
    find("speed").value = [...find("speed").options].reduce((a, b) => (away(a) <= away(b) ? a : b)).value;
  }

  // --- controls

  play.addEventListener("click", () => run(!state.playing));
  slider.addEventListener("input", () => seek(Number(slider.value) * end));
  find("view").value = state.apart ? "apart" : "together";
  find("view").addEventListener("change", (e) => { state.apart = e.target.value === "apart"; render(); });
  find("window").addEventListener("change", () => { drawPlots(); render(); });

  controlView(canvas, scene, render, {
    " ": () => run(!state.playing),
    ",": () => seek(state.time - end / 200),
    ".": () => seek(state.time + end / 200),
  });

  if (!calm && "IntersectionObserver" in window) {  // starts when it is first seen, rests while it is out of sight
    let started = false;
    new IntersectionObserver(([entry]) => {
      if (entry.isIntersecting && !started) { started = true; run(true); }
      else if (!entry.isIntersecting) run(false);
    }, { threshold: 0.3 }).observe(canvas);
  }
  pickSpeed();
  describe();
  drawPlots();
  render();
})();
