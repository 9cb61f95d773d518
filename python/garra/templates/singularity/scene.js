// Cubes of tool positions, and points, on a canvas: orthographic, z upwards, opened by a cut along a world axis.
"use strict";
// Logarithms in steps of 1/2000; NaN where there is none.
const logarithms = (text) => Float32Array.from(unpacked(text, "<i2"), (v) => (v === -32768 ? NaN : v / 2000));

const Cloud = (() => {
  const SHADE = [0.95, 0.9, 1];  // of faces across x, y, z

  function shaded(color, factor) {
    const part = (k) => Math.round(factor * parseInt(color.slice(2 * k + 1, 2 * k + 3), 16));
    return `rgb(${part(0)},${part(1)},${part(2)})`;
  }

  function unpack(c) {
    const logs = Object.fromEntries(["min", "p10", "p50", "max"].map((key) => [key, logarithms(c[key])]));
    const out = { ...logs, index: unpacked(c.index, "<u4"), count: unpacked(c.count, "<u4"),
      near: unpacked(c.near, "<u4"), at: new Int32Array(c.n[0] * c.n[1] * c.n[2]).fill(-1), points: null };
    out.index.forEach((cell, row) => { out.at[cell] = row; });
    if (c.points) {
      const p = c.points;
      out.points = { tool: unpacked(p.tool, "<f4"), set: unpacked(p.set, "<u2"),
        sample: unpacked(p.sample, "<f8"), ratio: logarithms(p.ratio), sets: p.sets,
        distance: unpacked(p.distance, "<f4"), escape: unpacked(p.escape, "i1") };
    }
    return out;
  }

  function make(canvas, data, ramp) {
    const rows = unpack(data), n = data.n, side = data.side;
    // A sheet one cube thick is seen from its side.
    const [azimuth, elevation] = [[20, 25], [-70, 25], [-62, 60]][n.indexOf(1)] || [-62, 24];
    const view = orthographic(canvas, data.low, data.low.map((v, c) => v + side * n[c]), { azimuth, elevation });
    const { context, extent, line, color: hue } = view;
    const palette = SHADE.map((factor) => ramp.map((color) => shaded(color, factor)));
    const state = { measure: "p50", axis: 1, cut: 0, high: true, hidden: new Set(), marked: -1 };
    const place = new Uint8Array(rows.index.length);  // along the ramp

    function color(measure) {
      state.measure = measure;
      state.marked = -1;
      const scale = data.scales[measure];
      if (!scale) return;
      place.forEach((_, row) => {
        const share = measure === "near" ? rows.near[row] / rows.count[row] : rows[measure][row];
        let x = Math.min(Math.max((share - scale.low) / (scale.high - scale.low), 0), 1);
        if (measure === "near") x = 1 - x;
        place[row] = Number.isNaN(x) ? 0 : Math.round(255 * x);
      });
    }

    // From world to pixels; `toward` points to the reader, `steps` along the sides of a cube.
    function camera() {
      const { width, height } = canvas.getBoundingClientRect(), box = { x: 0, y: 0, w: width, h: height };
      const seen = view.projection(box, 1.25 * Math.min(width, height * 1.15) / Math.min(width, height)), zero = seen.to([0, 0, 0]);
      const steps = [0, 1, 2].map((c) => seen.to([0, 1, 2].map((k) => (k === c ? side : 0))).map((v, k) => v - zero[k]));
      const middle = n.map((count, c) => data.low[c] + 0.5 * side * count);
      return { ...seen, steps, box, width, height, depth: (p) => Space.dot(seen.toward, Space.add(p, middle, -1)) };
    }

    const kept = (cell, c) => c !== state.axis || (state.high ? cell >= state.cut : cell < state.cut);

    // Calls visit(row, x, y, z, open) for cubes with an open face, the farthest first, or the nearest first; open: bits
    // of the faces across x, y, z that look at the reader. Ends where visit returns true.
    function each(toward, nearestFirst, visit) {
      const range = [0, 1, 2].map((c) => {
        const cells = [...Array(n[c]).keys()].filter((cell) => kept(cell, c));
        return (toward[c] > 0) === nearestFirst ? cells.reverse() : cells;
      });
      const stride = [1, n[0], n[0] * n[1]], step = toward.map((v) => (v > 0 ? 1 : -1));
      const covered = (x, y, z, c) => {
        const cell = [x, y, z][c] + step[c];
        if (cell < 0 || cell >= n[c] || !kept(cell, c)) return false;
        return rows.at[x * stride[0] + y * stride[1] + z * stride[2] + step[c] * stride[c]] >= 0;
      };
      for (const z of range[2]) for (const y of range[1]) for (const x of range[0]) {
        const row = rows.at[x + n[0] * (y + n[1] * z)];
        if (row < 0) continue;
        let open = 0;
        for (let c = 0; c < 3; c++) if (Math.abs(toward[c]) > 1e-3 && !covered(x, y, z, c)) open |= 1 << c;
        if (open && visit(row, x, y, z, open)) return;
      }
    }

    // Corners of a cube's face that looks at the reader: first corner and the two sides from it.
    function face(seen, origin, cell, c) {
      const out = seen.toward[c] > 0 ? 1 : 0, [b, d] = [[1, 2], [0, 2], [0, 1]][c];
      const at = (k) => origin[k] + cell.reduce((sum, v, a) => sum + (v + (a === c ? out : 0)) * seen.steps[a][k], 0);
      return [at(0), at(1), seen.steps[b], seen.steps[d]];
    }

    function trace([x, y, u, v]) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + u[0], y + u[1]);
      context.lineTo(x + u[0] + v[0], y + u[1] + v[1]);
      context.lineTo(x + v[0], y + v[1]);
      context.closePath();
    }

    function cubes(seen) {
      const origin = seen.to(data.low);
      context.lineWidth = 0.7;
      each(seen.toward, false, (row, x, y, z, open) => {
        for (let c = 0; c < 3; c++) {
          if (!(open >> c & 1)) continue;
          trace(face(seen, origin, [x, y, z], c));
          context.fillStyle = context.strokeStyle = palette[c][place[row]];
          context.fill();
          context.stroke();  // closes the seams between neighbors
        }
      });
      if (state.marked < 0) return;
      const cell = rows.index[state.marked], at = [cell % n[0], Math.floor(cell / n[0]) % n[1], Math.floor(cell / n[0] / n[1])];
      Object.assign(context, { strokeStyle: "#ff5a36", lineWidth: 2 });
      for (let c = 0; c < 3; c++) { trace(face(seen, origin, at, c)); context.stroke(); }
    }

    const pointKept = (p) => state.axis < 0 ||
      ((p[state.axis] - data.low[state.axis]) / side >= state.cut) === state.high;

    function visiblePoints(seen) {
      const found = [], tool = rows.points.tool;
      for (let i = 0; i < rows.points.set.length; i++) {
        const p = [tool[3 * i], tool[3 * i + 1], tool[3 * i + 2]];
        if (!state.hidden.has(rows.points.set[i]) && pointKept(p)) found.push([seen.depth(p), i, ...seen.to(p)]);
      }
      return found.sort((a, b) => a[0] - b[0]);
    }

    function dots(seen) {
      const size = Math.min(Math.max(2.6 * Math.sqrt(seen.pixels * extent / (1.25 * Math.min(seen.width, 1.15 * seen.height))), 2), 6);
      for (const [depth, i, x, y] of visiblePoints(seen)) {
        context.globalAlpha = 0.35 + 0.65 * Math.min(Math.max(depth / extent + 0.5, 0), 1);
        context.fillStyle = rows.points.sets[rows.points.set[i]].color;
        context.fillRect(x - size / 2, y - size / 2, size, size);
        if (i === state.marked) {
          Object.assign(context, { globalAlpha: 1, strokeStyle: hue("ink"), lineWidth: 2 });
          context.strokeRect(x - 5, y - 5, 10, 10);
        }
      }
      context.globalAlpha = 1;
    }

    // The edges of the box that lie behind everything.
    function box(seen) {
      const corner = (bits) => seen.to(n.map((count, c) => data.low[c] + (bits >> c & 1 ? side * count : 0)));
      const nearest = seen.toward.reduce((bits, v, c) => bits | (v > 0 ? 1 << c : 0), 0);
      for (let bits = 0; bits < 8; bits++) for (let c = 0; c < 3; c++) {
        if (bits >> c & 1) continue;
        if (bits !== nearest && (bits | 1 << c) !== nearest) line([corner(bits), corner(bits | 1 << c)], hue("grid"), 1);
      }
    }

    function axes(seen) {
      const start = [44, seen.height - 62];
      view.axes(start, (c, length) => seen.steps[c].map((v, k) => start[k] + 34 * length * v / (seen.pixels * side)), 1.3);
      const [bx, by] = seen.to([0, 0, 0]);
      Object.assign(context, { fillStyle: hue("paper"), strokeStyle: hue("ink"), lineWidth: 1.6 });
      context.fillRect(bx - 5, by - 5, 10, 10);
      context.strokeRect(bx - 5, by - 5, 10, 10);
      Object.assign(context, { strokeStyle: hue("paper"), lineWidth: 4, textAlign: "left", font: `13px ${canvas.dataset.font}` });
      context.strokeText("base", bx + 10, by + 4);
      context.fillStyle = hue("ink");
      context.fillText("base", bx + 10, by + 4);
    }

    function draw() {
      if (!view.begin()) return;
      const seen = camera();
      box(seen);
      if (state.measure === "sets") dots(seen); else cubes(seen);
      axes(seen);
      view.scaleBar(seen.box, seen.pixels, true);
    }

    function within([fx, fy, u, v], x, y) {
      const det = u[0] * v[1] - u[1] * v[0], px = x - fx, py = y - fy;
      const a = (px * v[1] - py * v[0]) / det, b = (u[0] * py - u[1] * px) / det;
      return a >= 0 && a <= 1 && b >= 0 && b <= 1;
    }

    // The cube or point under a place of the canvas: its row, -1 for none.
    function pick(x, y) {
      const seen = camera();
      let found = -1;
      if (state.measure === "sets") {
        let best = 9;
        for (const [, i, px, py] of visiblePoints(seen)) {
          const away = Math.hypot(px - x, py - y);
          if (away <= best) { best = away; found = i; }
        }
        return found;
      }
      const origin = seen.to(data.low);
      each(seen.toward, true, (row, i, j, k, open) => {
        for (let c = 0; c < 3; c++) {
          if (open >> c & 1 && within(face(seen, origin, [i, j, k], c), x, y)) { found = row; return true; }
        }
        return false;
      });
      return found;
    }

    color("p50");
    return { draw, reset: view.reset, turn: view.turn, zoom: view.zoom, color, pick, camera, rows, state };
  }

  return { make };
})();
