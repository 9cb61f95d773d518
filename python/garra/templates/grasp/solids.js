// The object of a grasp as a picture: sphere, box, cylinder or bare points, turned by its quaternion.
"use strict";
const Solids = (() => {
  const { add, cross, dot, turned } = Space;
  const SEGMENTS = 48;

  // Points of a circle about the origin in body axes; `a`, `b` span it.
  function circle(a, b, center = [0, 0, 0]) {
    return [...Array(SEGMENTS + 1).keys()].map((k) => {
      const angle = 2 * Math.PI * k / SEGMENTS;
      return add(add(center, a, Math.cos(angle)), b, Math.sin(angle));
    });
  }

  const unit = (v) => { const size = Math.hypot(...v) || 1; return v.map((c) => c / size); };

  // Any two directions square to v and to each other.
  function across(v) {
    const n = unit(v), a = unit(cross(n, Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    return [a, cross(n, a)];
  }

  // Closed outlines in body axes, each flat, with the direction it faces: the surface's facets, or its great circles.
  function outlines(shape) {
    const r = shape.radius, h = shape.height / 2, s = shape.size.map((v) => v / 2);
    const axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    if (shape.shape === "sphere") {
      return axes.map((n) => { const [a, b] = across(n); return { ring: circle(a.map((v) => r * v), b.map((v) => r * v)), n }; });
    }
    if (shape.shape === "cylinder") {
      return [-1, 1].map((side) => ({ ring: circle([r, 0, 0], [0, r, 0], [0, 0, side * h]), n: [0, 0, side] }));
    }
    if (shape.shape === "box") {
      return axes.flatMap((n, c) => [-1, 1].map((side) => {
        const [u, v] = [0, 1, 2].filter((k) => k !== c);
        const corner = (a, b) => { const p = [0, 0, 0]; p[c] = side * s[c]; p[u] = a * s[u]; p[v] = b * s[v]; return p; };
        return { ring: [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), corner(-1, -1)], n: n.map((x) => side * x) };
      }));
    }
    return [];
  }

  // Farthest point of the object from its center.
  function reach(shape, points) {
    if (shape.shape === "sphere") return shape.radius;
    if (shape.shape === "cylinder") return Math.hypot(shape.radius, shape.height / 2);
    if (shape.shape === "box") return Math.hypot(...shape.size) / 2;
    return Math.max(...points.map((p) => Math.hypot(...p)), 1e-3);
  }

  function ball(context, [x, y], radius, color) {
    const shade = context.createRadialGradient(x - 0.35 * radius, y - 0.4 * radius, 0.1 * radius, x, y, radius);
    shade.addColorStop(0, color);
    shade.addColorStop(1, "transparent");
    const before = context.globalAlpha;
    for (const [style, alpha] of [[color, 0.22], [shade, 0.2]]) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      Object.assign(context, { fillStyle: style, globalAlpha: alpha });
      context.fill();
    }
    context.globalAlpha = before;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    Object.assign(context, { strokeStyle: color, lineWidth: 1.6 });
    context.stroke();
  }

  // A ring on a sphere: what faces the reader is drawn, the rest hinted at.
  function ring(line, points, center, { to, toward }, color) {
    const front = (p) => dot(add(p, center, -1), toward) >= 0;
    for (let k = 0; k + 1 < points.length; k++) {
      const near = front(points[k]) && front(points[k + 1]);
      line([to(points[k]), to(points[k + 1])], color, near ? 1.4 : 0.7, near ? [] : [2, 3]);
    }
  }

  // `place`: body axes to the room; `body`: the contacts' points on it at the start, which is all that "points" has.
  function draw(view, look, shape, place, body, color) {
    const { context, line } = view, { to, toward, pixels } = look, center = place([0, 0, 0]);
    const rings = outlines(shape).map(({ ring: points, n }) =>
      ({ points: points.map(place), faces: dot(add(place(n), center, -1), toward) }));
    if (shape.shape === "sphere") {
      ball(context, to(center), shape.radius * pixels, color);
      rings.forEach((r) => ring(line, r.points, center, look, color));
    } else if (shape.shape === "cylinder") {
      sides(view, look, shape, place, color);
      rings.forEach((r) => facet(view, look, r, color));
    } else if (shape.shape === "box") {
      rings.sort((a, b) => a.faces - b.faces).forEach((r) => facet(view, look, r, color));
    } else {
      body.forEach((p) => line([to(center), to(place(p))], color, 1.6));
      if (body.length > 2) view.polygon(body.map((p) => to(place(p))), color, 0.15);
    }
  }

  function facet({ polygon, line }, { to }, { points, faces }, color) {
    const seen = points.map(to);
    if (faces > 0) polygon(seen, color, 0.12 + 0.16 * faces);
    line(seen, color, faces > 0 ? 1.6 : 0.7, faces > 0 ? [] : [2, 3]);
  }

  // What is seen of a cylinder: between the back half of the nearer rim and the front half of the farther one.
  function sides({ polygon, line }, { to, toward }, shape, place, color) {
    const center = place([0, 0, 0]), up = add(place([0, 0, 1]), center, -1), h = shape.height / 2;
    const axis = dot(up, toward) < 0 ? up.map((v) => -v) : up, edge = unit(cross(axis, toward)), front = cross(edge, axis);
    const half = (end, side) => [...Array(SEGMENTS / 2 + 1).keys()].map((k) => {
      const angle = 2 * Math.PI * k / SEGMENTS, [c, s] = [Math.cos(angle), side * Math.sin(angle)];
      const radial = edge.map((v, i) => c * v + s * front[i]);
      return to(add(add(center, radial, shape.radius), axis, end * h));
    });
    const seen = [...half(1, -1), ...half(-1, 1).reverse()];
    polygon(seen, color, 0.2);
    line([...seen, seen[0]], color, 1.6);
    for (let k = 0; k < 8; k++) {  // ribs, so that a turn about the axis is seen
      const angle = Math.PI * k / 4, foot = [shape.radius * Math.cos(angle), shape.radius * Math.sin(angle), 0];
      const ends = [-h, h].map((z) => place([foot[0], foot[1], z])), near = dot(add(place(foot), center, -1), toward) > 0;
      line(ends.map(to), color, near ? 0.9 : 0.5, near ? [] : [2, 3]);
    }
  }

  // A friction cone: its rim, and lines from its tip.
  function cone(view, to, { tip, normal, height, mu }, color) {
    if (!(height > 0) || !mu) return;
    const [a, b] = across(normal), center = add(tip, normal, height), radius = mu * height;
    const rim = [...Array(33).keys()].map((k) => {
      const angle = Math.PI * k / 16;
      return to(add(add(center, a, radius * Math.cos(angle)), b, radius * Math.sin(angle)));
    });
    const before = view.context.globalAlpha;
    view.context.globalAlpha = 0.75 * before;
    view.line(rim, color, 0.9);
    for (let k = 0; k < 32; k += 4) view.line([to(tip), rim[k]], color, 0.5);
    view.context.globalAlpha = before;
  }

  return { draw, reach, outlines, across, cone };
})();
