// Controls of the workspace's picture, and the numbers under the pointer in the slices.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("map-data").textContent);
  const find = (id) => document.getElementById(id);
  const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const minus = (text) => text.replace("-", "−");
  const power = (e) => `10${e < 0 ? "⁻" : ""}${[...String(Math.abs(e))].map((d) => DIGITS[d]).join("")}`;

  // Three digits of a number given by its logarithm.
  function value(log) {
    if (Number.isNaN(log)) return "–";
    const exponent = Math.floor(log);
    if (exponent >= -3 && exponent < 5) return String(+(10 ** log).toPrecision(3));
    return `${(10 ** (log - exponent)).toPrecision(2)}\u202f×\u202f${power(exponent)}`;
  }

  function workspace() {
    const canvas = find("cloud"), info = data.cloud, scene = Cloud.make(canvas, info, data.ramp);
    const { rows, state } = scene, cut = find("cut"), where = find("where"), readout = find("readout");
    const resting = "Point at the picture to read its numbers.";
    const render = perFrame(scene.draw);

    function legend() {
      const sets = state.measure === "sets", scale = info.scales[state.measure], host = find("legend");
      host.hidden = sets;
      find("sets").hidden = !sets;
      if (sets) return;
      const option = find("measure").selectedOptions[0].textContent;
      host.querySelector("p").textContent = option;
      host.querySelector("i").className = state.measure === "near" ? "reverse" : "";
      host.querySelector(".marks").replaceChildren(...scale.ticks.map((tick) => {
        const mark = document.createElement("span");
        mark.style.left = `${tick.at}%`;
        mark.className = tick.at < 1 ? "first" : tick.at > 99 ? "last" : "";
        mark.textContent = tick.text;
        return mark;
      }));
    }

    function switches() {
      if (!rows.points) return;
      find("sets").replaceChildren(...rows.points.sets.map((set, i) => {
        const label = document.createElement("label"), box = document.createElement("input"), mark = document.createElement("i");
        Object.assign(box, { type: "checkbox", checked: true });
        box.addEventListener("change", () => { state.hidden[box.checked ? "delete" : "add"](i); render(); });
        mark.className = "swatch";
        mark.style.background = set.color;
        label.append(box, mark, `${set.name} (${set.count.toLocaleString("en")})`);
        return label;
      }));
    }

    function moveCut(cell) {
      const axis = state.axis, count = axis < 0 ? 1 : info.n[axis];
      state.cut = Math.min(Math.max(cell, 0), count);
      Object.assign(cut, { max: count, value: state.cut, disabled: axis < 0 });
      find("flip").disabled = axis < 0;
      const at = axis < 0 ? 0 : 1e3 * (info.low[axis] + state.cut * info.side);
      where.textContent = axis < 0 ? "" : minus(`${"xyz"[axis]} ${state.high ? "≥" : "≤"} ${Math.round(at)} mm`);
      state.marked = -1;
      render();
    }

    function openAcross(axis) {  // in the middle, the reader's half away
      state.axis = axis;
      if (axis >= 0) state.high = scene.camera().toward[axis] < 0;
      moveCut(axis < 0 ? 0 : Math.floor(info.n[axis] / 2));
    }

    function cubeText(row) {
      const cell = rows.index[row], n = info.n;
      const at = [cell % n[0], Math.floor(cell / n[0]) % n[1], Math.floor(cell / n[0] / n[1])];
      const center = at.map((k, c) => minus(String(Math.round(1e3 * (info.low[c] + (k + 0.5) * info.side)))));
      const share = (100 * rows.near[row] / rows.count[row]).toPrecision(3);
      return `(${center.join(", ")}) mm: ${rows.count[row].toLocaleString("en")} samples, ${+share} % near; σ_min smallest ` +
        `${value(rows.min[row])}, 10 % ${value(rows.p10[row])}, median ${value(rows.p50[row])}, largest ${value(rows.max[row])}`;
    }

    function pointText(row) {
      const p = rows.points, set = p.sets[p.set[row]], joint = p.escape[row];
      return `Sample ${p.sample[row].toLocaleString("en")}: dependent joints ${set.name}, σ_min/σ_max ${value(p.ratio[row])}, ` +
        `singularity ${+p.distance[row].toPrecision(3)}° away, ${joint >= 0 ? `joint ${joint} leads out` : "no joint alone leads out"}`;
    }

    function mark(row) {
      if (row === state.marked) return;
      state.marked = row;
      readout.textContent = row < 0 ? resting : state.measure === "sets" ? pointText(row) : cubeText(row);
      render();
    }

    find("measure").addEventListener("change", (e) => { scene.color(e.target.value); legend(); readout.textContent = resting; render(); });
    find("axis").addEventListener("change", (e) => openAcross(Number(e.target.value)));
    cut.addEventListener("input", () => moveCut(Number(cut.value)));
    find("flip").addEventListener("click", () => { state.high = !state.high; moveCut(state.cut); });

    controlView(canvas, scene, render, { ",": () => moveCut(state.cut - 1), ".": () => moveCut(state.cut + 1) },
                (x, y) => mark(scene.pick(x, y)));
    canvas.addEventListener("pointerleave", () => mark(-1));

    switches();
    legend();
    find("axis").value = info.n.includes(1) ? "-1" : "1";
    openAcross(Number(find("axis").value));
    readout.textContent = resting;
    window.garraCloud = scene;
  }

  // Numbers of the node under the pointer; the figure's raster says where the nodes are.
  function slice(part, host, readout) {
    const fields = ["sigma", "ratio", "w"].map((key) => logarithms(part[key]));
    const rest = readout.innerHTML, picture = host.querySelector("image");
    if (!picture) return;
    host.addEventListener("pointermove", (event) => {
      const frame = picture.getBoundingClientRect(), nx = part.x.length, ny = part.y.length;
      const i = Math.floor((event.clientX - frame.left) / frame.width * nx);
      const j = ny - 1 - Math.floor((event.clientY - frame.top) / frame.height * ny);
      if (i < 0 || j < 0 || i >= nx || j >= ny) { readout.innerHTML = rest; return; }
      const [sigma, ratio, w] = fields.map((field) => field[j * nx + i]);
      const place = [part.x[i], part.y[j]].map((v, c) =>
        `q[${part.joints[c]}] = ${minus(String(+v.toFixed(1)))}${part.units[c] === "°" ? "°" : ` ${part.units[c]}`}`);
      readout.textContent = `${place.join(", ")}: σ_min ${value(sigma)}, condition ${value(-ratio)}, manipulability ${value(w)}` +
        (10 ** ratio <= data.near ? "; near a singularity" : "");
    });
    host.addEventListener("pointerleave", () => { readout.innerHTML = rest; });
  }

  if (data.cloud) workspace();
  data.slices.forEach((part, i) =>
    slice(part, document.querySelector(`[data-slice="${i}"]`), document.querySelector(`[data-readout="${i}"]`)));
})();
