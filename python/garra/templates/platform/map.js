// A map of the workspace: its nodes as boxes in space, opened at a cut, and the cut itself, whose numbers can be read.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("platform-data").textContent);
  const find = (id) => document.getElementById(id);
  const [cloud, slice, axis, cut, measure] = ["cloud", "slice", "axis", "cut", "measure"].map(find);
  const axes = [data.x, data.y, data.z], n = axes.map((a) => a.length), NAMES = ["x", "y", "z"];
  // Of the box about a node: half way to its neighbors; as thick as the thinnest other where there is one node only.
  const steps = axes.map((a) => (a.length > 1 ? (a[a.length - 1] - a[0]) / (a.length - 1) : Infinity));
  const thin = Math.min(...steps);
  const half = steps.map((s) => (Number.isFinite(s) ? s : Number.isFinite(thin) ? thin : 0.01) / 2);
  const low = axes.map((a, c) => a[0] - half[c]), high = axes.map((a, c) => a[a.length - 1] + half[c]);
  const view = orthographic(cloud, low, high, { azimuth: -60, elevation: 28 });
  const SHADE = [0.92, 0.84, 1];  // of faces across x, y, z
  const palette = SHADE.map((s) => data.ramp.map((c) =>
    `rgb(${[1, 3, 5].map((k) => Math.round(s * parseInt(c.slice(k, k + 2), 16))).join(",")})`));
  const at = (key, i) => data[key][i[2]][i[1]][i[0]];
  const rest = find("readout").textContent;

  function scaleOf(key) {
    if (key === "feasible_share") return [0, 1];
    const values = data[key].flat(2).filter((v) => v !== null).sort((a, b) => a - b);
    if (!values.length) return [0, 1];
    // A force grows beyond bounds near a singular pose: the last hundredth would flatten the rest.
    const top = values[Math.floor(0.99 * (values.length - 1))];
    return [key === "sigma_min" ? 0 : values[0], top > values[0] ? top : values[0] + 1];
  }
  const scales = Object.fromEntries(data.measures.map((m) => [m.key, scaleOf(m.key)]));
  const text = (v, unit) => (v === null ? "–" : `${+v.toPrecision(3)}${unit && `\u202f${unit}`}`);

  function shade(key, value) {
    const [from, to] = scales[key], share = Math.min(Math.max((value - from) / (to - from), 0), 1);
    return Math.round(255 * share);
  }

  const state = { axis: 2, cut: 0 };
  const solid = (i) => i.every((v, c) => v >= 0 && v < n[c]) && i[state.axis] <= state.cut && at("feasible_share", i) > 0;

  function face(seen, i, c) {
    const out = seen.toward[c] > 0 ? 1 : -1, [b, d] = [0, 1, 2].filter((k) => k !== c);
    const corner = (u, v) => {
      const p = i.map((k, a) => axes[a][k]);
      p[c] += out * half[c];
      p[b] += u * half[b];
      p[d] += v * half[d];
      return seen.to(p);
    };
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
  }

  function drawSpace() {
    const size = view.begin();
    if (!size) return;
    const muted = view.color("muted");
    const seen = view.projection({ x: 0, y: 0, w: size.width, h: size.height }, 1.05), key = measure.value;
    const ends = [0, 1, 2].map((c) => low.map((v, k) => (k === c ? high[c] : v)));
    ends.forEach((end, c) => {
      const [x, y] = seen.to(end);
      view.line([seen.to(low), [x, y]], muted, 1.2);
      view.write(NAMES[c], x + 8, y + 4, muted);
    });
    const order = n.map((count, c) => {
      const cells = [...Array(count).keys()];
      return seen.toward[c] > 0 ? cells : cells.reverse();  // the farthest first
    });
    for (const z of order[2]) for (const y of order[1]) for (const x of order[0]) {
      const i = [x, y, z], value = at(key, i);
      if (!solid(i)) continue;
      for (let c = 0; c < 3; c++) {
        const next = i.map((v, k) => (k === c ? v + (seen.toward[c] > 0 ? 1 : -1) : v));
        if (Math.abs(seen.toward[c]) < 1e-3 || solid(next)) continue;
        view.polygon(face(seen, i, c), value === null ? muted : palette[c][shade(key, value)], 1, 0.7);
      }
    }
  }

  // Columns and rows of the cut, and how a cell lies on the canvas.
  function layout() {
    const [b, d] = [0, 1, 2].filter((k) => k !== state.axis), { width, height } = slice.getBoundingClientRect();
    const left = 54, right = width - 12, top = 28, bottom = height - 40;
    const spans = [b, d].map((k) => high[k] - low[k]), scale = Math.min((right - left) / spans[0], (bottom - top) / spans[1]);
    const w = spans[0] * scale / n[b], h = spans[1] * scale / n[d];
    const x0 = left + (right - left - w * n[b]) / 2, y0 = bottom - (bottom - top - h * n[d]) / 2;
    const node = (i, j) => { const k = [0, 0, 0]; k[state.axis] = state.cut; k[b] = i; k[d] = j; return k; };
    return { b, d, w, h, x0, y0, width, height, node };
  }

  function drawSlice() {
    const l = layout(), ratio = window.devicePixelRatio || 1, context = slice.getContext("2d"), key = measure.value;
    if (!l.width) return;
    [slice.width, slice.height] = [Math.round(l.width * ratio), Math.round(l.height * ratio)];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (let j = 0; j < n[l.d]; j++) for (let i = 0; i < n[l.b]; i++) {
      const value = at(key, l.node(i, j));
      context.fillStyle = value === null ? view.color("track") : data.ramp[shade(key, value)];
      context.fillRect(l.x0 + i * l.w, l.y0 - (j + 1) * l.h, l.w + 0.5, l.h + 0.5);
    }
    Object.assign(context, { fillStyle: view.color("muted"), font: `12px ${cloud.dataset.font}`, textAlign: "center" });
    const mm = (v) => String(Math.round(1e3 * v)).replace("-", "−");
    for (const i of new Set([0, n[l.b] - 1])) context.fillText(mm(axes[l.b][i]), l.x0 + (i + 0.5) * l.w, l.y0 + 16);
    context.fillText(`${NAMES[l.b]} [mm]`, l.x0 + n[l.b] * l.w / 2, l.y0 + 32);
    context.textAlign = "right";
    context.fillText(`${NAMES[l.d]} [mm]`, l.x0 - 6, l.y0 - n[l.d] * l.h - 8);
    for (const j of new Set([0, n[l.d] - 1])) context.fillText(mm(axes[l.d][j]), l.x0 - 6, l.y0 - (j + 0.5) * l.h + 4);
  }

  function draw() {
    drawSpace();
    drawSlice();
  }
  const render = perFrame(draw);

  function show() {
    const m = data.measures.find((row) => row.key === measure.value), [from, to] = scales[m.key];
    find("shown").textContent = m.label;
    find("lowest").textContent = text(from, m.unit);
    find("highest").textContent = `${text(to, m.unit)}${m.key === "feasible_share" ? "" : " and more"}`;
    render();
  }
  function moveCut(k) {
    state.cut = Math.min(Math.max(k, 0), n[state.axis] - 1);
    cut.value = state.cut;
    find("where").textContent = `${NAMES[state.axis]} = ${(1e3 * axes[state.axis][state.cut]).toFixed(0).replace("-", "−")} mm`;
    find("readout").textContent = rest;
    render();
  }
  function openAcross(c) {
    state.axis = c;
    cut.max = n[c] - 1;
    cut.disabled = n[c] === 1;
    moveCut(Math.floor((n[c] - 1) / 2));
  }

  data.measures.forEach((m) => measure.add(new Option(m.label, m.key)));
  measure.addEventListener("change", show);
  axis.addEventListener("change", () => openAcross(NAMES.indexOf(axis.value)));
  cut.addEventListener("input", () => moveCut(Number(cut.value)));
  slice.addEventListener("pointermove", (event) => {
    const frame = slice.getBoundingClientRect(), l = layout();
    const i = Math.floor((event.clientX - frame.left - l.x0) / l.w), j = Math.floor((l.y0 - event.clientY + frame.top) / l.h);
    if (i < 0 || j < 0 || i >= n[l.b] || j >= n[l.d]) { find("readout").textContent = rest; return; }
    const node = l.node(i, j), place = node.map((k, c) => `${NAMES[c]} = ${Math.round(1e3 * axes[c][k])} mm`);
    const values = data.measures.map((m) => `${m.label.toLowerCase()} ${text(at(m.key, node), m.unit)}`);
    find("readout").textContent = `${place.join(", ")}: ${values.join("; ")}`.replaceAll("-", "−");
  });
  slice.addEventListener("pointerleave", () => { find("readout").textContent = rest; });
  controlView(cloud, view, render, { ",": () => moveCut(state.cut - 1), ".": () => moveCut(state.cut + 1) });
  openAcross(n.includes(1) ? n.indexOf(1) : 2);  // a sheet is seen from its side
  axis.value = NAMES[state.axis];
  show();
  window.garraMap = { draw };
})();
