// An orthographic view of a box in space on a canvas, z upwards: what turns, zooms and projects for every scene.
"use strict";
function orthographic(canvas, low, high, home) {
  const context = canvas.getContext("2d");
  let middle = low.map((v, c) => (v + high[c]) / 2);
  const extent = Math.hypot(...low.map((v, c) => high[c] - v)) || 1;
  const view = {};
  canvas.dataset.font = getComputedStyle(document.body).fontFamily;

  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(`--${name}`).trim();
  function reset() { Object.assign(view, home, { zoom: 1 }); }
  function turn(da, de) {
    view.azimuth += da;
    view.elevation = Math.min(Math.max(view.elevation + de, -89), 89);
  }
  function zoom(factor) { view.zoom = Math.min(Math.max(view.zoom * factor, 0.3), 20); }

  // World to pixels of a part of the canvas, of whose shorter side the box fills a share; `toward` points to the reader.
  function projection(box, share) {
    const a = view.azimuth * Math.PI / 180, e = view.elevation * Math.PI / 180;
    const right = [-Math.sin(a), Math.cos(a), 0];
    const up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
    const toward = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const pixels = view.zoom * share * Math.min(box.w, box.h) / extent;
    const along = (axis, p) => axis.reduce((sum, v, c) => sum + v * (p[c] - middle[c]), 0);
    const to = (p) => [box.x + box.w / 2 + pixels * along(right, p), box.y + box.h / 2 - pixels * along(up, p)];
    return { to, pixels, toward };
  }

  // The share with which `points` just fit into a box, seen as they are when the box gets its size.
  let fitted = { w: 0, h: 0, share: 1 };
  function fit(points, { w, h }) {
    if (w === fitted.w && h === fitted.h) return fitted.share;
    const { to } = projection({ x: 0, y: 0, w, h }, 1);
    const most = points.map(to).reduce((m, [x, y]) => Math.max(m, Math.abs(x / w - 0.5), Math.abs(y / h - 0.5)), 0.1);
    fitted = { w, h, share: 0.45 * view.zoom / most };
    return fitted.share;
  }

  // Puts another point into the middle of the canvas.
  function aim(point) {
    middle = point;
    fitted = { w: 0, h: 0, share: 1 };
  }

  // Clears the canvas, at the screen's own resolution. Returns its size, nothing while it is hidden.
  function begin() {
    const ratio = window.devicePixelRatio || 1, { width, height } = canvas.getBoundingClientRect();
    if (!width) return null;
    const size = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { width, height };
  }

  function line(points, color, width, dash = []) {
    context.beginPath();
    points.forEach((p, i) => (i ? context.lineTo(...p) : context.moveTo(...p)));
    Object.assign(context, { strokeStyle: color, lineWidth: width, lineJoin: "round", lineCap: "round" });
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }

  // A closed area; `alpha` of its filling, relative to that of the canvas.
  function polygon(points, fill, alpha = 1, edge = 0) {
    const before = context.globalAlpha;
    context.beginPath();
    points.forEach((p) => context.lineTo(...p));
    context.closePath();
    Object.assign(context, { fillStyle: fill, strokeStyle: fill, lineWidth: edge, globalAlpha: alpha * before });
    context.fill();
    if (edge) context.stroke();
    context.globalAlpha = before;
  }

  // Named arrows of x, y, z on the canvas: from where they start, to where end(c, length) lies.
  function axes(start, end, label = 1.15) {
    ["x", "y", "z"].forEach((name, c) => {
      const [x, y] = end(c, label);
      line([start, end(c, 1)], color("muted"), 1.2);
      write(name, x, y + 4, color("muted"), "center");
    });
  }

  // A length of the scene in a lower corner of a box.
  function scaleBar(box, pixels, right = false) {
    const length = tickStep(box.w / pixels, 5), width = length * pixels, y = box.y + box.h - 14;
    const x = box.x + (right ? box.w - width - 74 : 14);
    line([[x, y - 4], [x, y], [x + width, y], [x + width, y - 4]], color("muted"), 1.4);
    write(length < 1 ? `${+(length * 1e3).toPrecision(2)} mm` : `${+length.toPrecision(2)} m`, x + width + 8, y + 1, color("muted"));
  }

  function write(text, x, y, color, align = "left", weight = "") {
    Object.assign(context, { fillStyle: color, textAlign: align, font: `${weight} 13px ${canvas.dataset.font}` });
    context.fillText(text, x, y);
  }

  function dot([x, y], radius, inner, outer) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle: inner, strokeStyle: outer, lineWidth: 1.6 });
    context.fill();
    context.stroke();
  }

  function arrow(from, to, color, width, label) {
    const [px, py] = from, [x, y] = to, length = Math.hypot(x - px, y - py), head = Math.atan2(y - py, x - px);
    if (length < 2) return;
    line([from, to], color, width);
    for (const side of [-2.6, 2.6]) {
      const tip = Math.min(8, 0.5 * length);
      line([to, [x + tip * Math.cos(head + side), y + tip * Math.sin(head + side)]], color, width);
    }
    if (label) write(label, x + 7, y + 4, color);
  }

  reset();
  const angles = () => ({ azimuth: view.azimuth, elevation: view.elevation });
  return { context, extent, color, angles, reset, turn, zoom, projection, fit, aim, begin, line, write, dot, arrow, polygon, axes, scaleBar };
}
