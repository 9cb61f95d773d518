// Vectors and unit quaternions (w, x, y, z) for the scenes.
"use strict";
const Space = (() => {
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const add = (a, b, s = 1) => a.map((v, c) => v + s * b[c]);

  // v turned by the quaternion.
  function turned([w, x, y, z], v) {
    const t = cross([x, y, z], v), u = cross([x, y, z], t);
    return v.map((c, k) => c + 2 * (w * t[k] + u[k]));
  }

  // Turns axes so that gravity, given in them, points down: as the machine stands, or hangs, in the room.
  function uprightness(gravity) {
    const size = Math.hypot(...gravity);
    if (!size) return [1, 0, 0, 0];
    const up = gravity.map((v) => -v / size), axis = cross(up, [0, 0, 1]), w = 1 + up[2];
    if (w < 1e-9) return [0, 1, 0, 0];
    const norm = Math.hypot(w, ...axis);
    return [w, ...axis].map((v) => v / norm);
  }

  // Lowest and highest coordinates of points.
  const bounds = (points) => [Math.min, Math.max].map((pick) =>
    [0, 1, 2].map((c) => points.reduce((found, p) => pick(found, p[c]), points[0][c])));

  return { bounds, cross, dot, add, turned, uprightness };
})();

// A round step that cuts a span into about `most` parts.
function tickStep(span, most) {
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((m) => m * power >= raw * 0.999) || 10);
}

// Numbers that travel as base64; `kind` as NumPy names it.
function unpacked(text, kind) {
  const Kinds = { "<u2": Uint16Array, "<i2": Int16Array, "<u4": Uint32Array, "<f4": Float32Array, "<f8": Float64Array, i1: Int8Array };
  return new Kinds[kind](Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}
