// The chain as a wire frame on a canvas: orthographic, z upwards, one view per design or all in one.
"use strict";
const Scene = (() => {
  const HUES = ["held", "accent", "slip"];  // of the three designs, on the whole page

  // Points of a design at a place of the times: [[x, y, z], …], the last ones it reached where it had ended.
  function pose(design, place) {
    const size = design.size, points = design.points;
    let [index, fraction] = place;
    while (index > 0 && points[index * size] === null) { index--; fraction = 0; }
    if (points[index * size] === null) return null;
    const next = points[(index + 1) * size] === undefined || points[(index + 1) * size] === null ? index : index + 1;
    const out = [];
    for (let k = 0; k < size; k += 3) {
      out.push([0, 1, 2].map((c) => {
        const a = points[index * size + k + c];
        return a + fraction * (points[next * size + k + c] - a);
      }));
    }
    return out;
  }

  function make(canvas, data) {
    const view = orthographic(canvas, data.low, data.high, { azimuth: data.azimuth, elevation: data.elevation });
    const { context, extent, line, write, color: hue } = view;
    const ground = data.low[2] - 0.04 * extent;
    const step = tickStep(extent, 6);  // of the ground's grid [m]

    function floor(to) {
      const cells = [0, 1].map((c) => [Math.floor(data.low[c] / step - 0.6), Math.ceil(data.high[c] / step + 0.6)]);
      for (let i = cells[0][0]; i <= cells[0][1]; i++) {
        line(cells[1].map((j) => to([i * step, j * step, ground])), hue("grid"), 1);
      }
      for (let j = cells[1][0]; j <= cells[1][1]; j++) {
        line(cells[0].map((i) => to([i * step, j * step, ground])), hue("grid"), 1);
      }
    }

    function trace(design, to, place, color) {
      const all = [], past = [];
      for (let i = 0; i * design.size < design.points.length; i++) {
        const p = design.points.slice((i + 1) * design.size - 3, (i + 1) * design.size);
        if (p[0] === null) break;
        all.push(to(p));
        if (i <= place[0]) past.push(all[i]);
      }
      const now = pose(design, place);
      if (now) past.push(to(now[now.length - 1]));
      context.globalAlpha = 0.25;
      line(all, color, 1.2);
      context.globalAlpha = 0.9;
      line(past, color, 1.8);
      context.globalAlpha = 1;
    }

    function chain(points, to, color, joints) {
      const seen = points.map(to);
      line(seen, hue("paper"), 9);
      line(seen, color, 5.5);
      const [bx, by] = seen[0];
      context.fillStyle = hue("ink");
      context.fillRect(bx - 9, by - 9, 18, 18);
      seen.slice(1).forEach(([x, y], i) => {
        const tip = i === joints.length, radius = tip ? 3.4 : 5;
        context.beginPath();
        if (!tip && joints[i].prismatic) context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
        else context.arc(x, y, radius, 0, 2 * Math.PI);
        const [inner, outer] = tip ? [hue("ink"), hue("paper")] : [hue("paper"), hue("ink")];
        Object.assign(context, { fillStyle: inner, strokeStyle: outer, lineWidth: 1.8 });
        context.fill();
        context.stroke();
      });
    }

    function one(box, shown, place) {
      context.save();
      context.beginPath();
      context.rect(box.x, box.y, box.w, box.h);
      context.clip();
      const { to, pixels } = view.projection(box, 0.82);
      floor(to);
      const poses = shown.map((s) => pose(s.design, place));
      poses.forEach((points) => {  // shadows: where the chain is above the ground
        context.globalAlpha = 0.18;
        if (points) line(points.map(([x, y]) => to([x, y, ground])), hue("ink"), 4);
        context.globalAlpha = 1;
      });
      const first = poses.find((p) => p);
      if (first) view.axes(to(first[0]), (c, length) => to(first[0].map((v, k) => v + (k === c ? 0.9 * step * length : 0))), 1.2);
      if (data.ghost) line(data.ghost.map(to), hue("muted"), 2.2, [2, 5]);
      shown.forEach((s) => trace(s.design, to, place, hue(HUES[s.slot])));
      shown.forEach((s, i) => { if (poses[i]) chain(poses[i], to, hue(HUES[s.slot]), data.joints); });
      view.scaleBar(box, pixels);
      context.restore();
    }

    // shown: [{slot, design}]; apart: a view for each.
    function draw(shown, place, apart) {
      const size = view.begin();
      if (!size) return;
      const { width, height } = size;
      if (!apart || shown.length < 2) {
        one({ x: 0, y: 0, w: width, h: height }, shown, place);
        return;
      }
      const w = width / shown.length;
      shown.forEach((s, i) => {
        one({ x: i * w, y: 0, w, h: height }, [s], place);
        write(s.design.label, i * w + 14, 24, hue(HUES[s.slot]), "left", "600");
        if (i) line([[i * w, 12], [i * w, height - 12]], hue("grid"), 1);
      });
    }

    return { draw, reset: view.reset, turn: view.turn, zoom: view.zoom };
  }

  return { make, pose, HUES };
})();
