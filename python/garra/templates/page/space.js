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

  return { cross, dot, add, turned, uprightness };
})();
