// A candidate grasp on a canvas: contacts, inward normals, friction cones, center of mass, weight, push, the object
// where the set has a mesh of it, and the hand where it is known. Upright: gravity points down.
"use strict";
const CandidateScene = (() => {
  const { add, cross, dot, turned, uprightness } = Space;
  const HOME = { azimuth: -35, elevation: 22 };

  // Hex colors of the page mixed, so that facets are opaque and have no seams.
  function mixed(a, b, share) {
    const parts = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
    const [u, v] = [parts(a), parts(b)];
    return `rgb(${u.map((c, k) => Math.round(c + share * (v[k] - c))).join(" ")})`;
  }

  // `small`: without labels. Returns what controlView() wants, and show(grasp); grasp: {points, normals, friction, com,
  // gravity, push, size, hand}; size: a factor on the mesh.
  function make(canvas, mesh, small) {
    let view = null, now = null;
    const color = (name) => view.color(name);

    // Seen from where the grasp before it was.
    function show(grasp, from = view ? view.angles() : HOME) {
      const stand = uprightness(grasp.gravity), room = (p) => turned(stand, p);
      const vertex = mesh ? mesh.vertex.map((p) => room(p.map((v) => grasp.size * v))) : [];
      const points = grasp.points.map(room), com = room(grasp.com);
      const reach = Math.max(...points.map((p) => Math.hypot(...add(p, com, -1))), 1e-4);
      const around = [0, 1, 2].flatMap((c) => [-1.15, 1.15].map((s) => com.map((v, k) => v + (k === c ? s * reach : 0))));
      const seen = [...points, ...around, ...vertex];
      view = orthographic(canvas, ...Space.bounds(seen), from);
      const hand = grasp.hand ? grasp.hand.vertex.map(room) : [];
      now = { grasp, room, vertex, hand, points, com, reach, seen, normals: grasp.normals.map(room) };
    }

    function facets({ to, toward }) {
      const facing = [];
      const collect = (faces, vertex, dark, alpha) => faces.forEach((face) => {
        const [a, b, c] = face.map((k) => vertex[k]), n = cross(add(b, a, -1), add(c, a, -1)), size = Math.hypot(...n);
        const tilt = Math.abs(dot(n, toward)) / size, depth = dot(a, toward) + dot(b, toward) + dot(c, toward);
        if (size) facing.push({ corners: [a, b, c], tilt, depth, dark, alpha });
      });
      if (mesh) collect(mesh.face, now.vertex, "muted", 1);
      if (now.hand.length) collect(now.grasp.hand.face, now.hand, "ink", 0.3);
      facing.sort((a, b) => a.depth - b.depth);
      for (const { corners, tilt, dark, alpha } of facing) {  // of meshes whose faces turn either way round
        view.polygon(corners.map(to), mixed(color("track"), color(dark), 0.75 - 0.6 * tilt), alpha, alpha < 1 ? 0 : 0.7);
      }
    }

    function contact(j, { to, toward }) {
      const { context, line } = view, tip = now.points[j], n = now.normals[j], mu = now.grasp.friction[j];
      const height = 0.5 * now.reach, behind = mesh && dot(n, toward) > 0;
      const before = context.globalAlpha;
      if (behind) context.globalAlpha = 0.5;
      line([to(tip), to(add(tip, n, 1.25 * height))], color("ink"), small ? 0.8 : 1, [5, 4]);
      Solids.cone(view, to, { tip, normal: n, height, mu }, color("accent"));
      view.dot(to(tip), small ? 3.5 : 5, color("held"), color("paper"));
      context.globalAlpha = before;
      if (small) return;
      const [x, y] = to(add(tip, n, -0.16 * now.reach));
      view.write(String(j), x, y + 4, color("ink"), "center", "600");
    }

    function axes({ h }, { to, pixels }) {
      const origin = [34, h - 34], zero = to([0, 0, 0]);
      view.axes(origin, (c, length) => to(now.room([0, 1, 2].map((k) => (k === c ? 24 * length / pixels : 0)))).map((v, k) =>
        origin[k] + v - zero[k]), 1.35);
    }

    function loads({ to }) {
      const { gravity, push } = now.grasp, down = now.room(gravity), size = Math.hypot(...gravity), strength = Math.hypot(...push);
      if (size) view.arrow(to(now.com), to(add(now.com, down, 0.9 * now.reach / size)), color("ink"), small ? 1.4 : 2, small ? "" : "weight");
      if (strength) view.arrow(to(now.com), to(add(now.com, now.room(push), 0.9 * now.reach / strength)), color("break"), 2, small ? "" : "push");
      view.dot(to(now.com), small ? 3 : 4.5, color("paper"), color("ink"));
    }

    function draw() {
      const canvasSize = now && view.begin();
      if (!canvasSize) return;
      const box = { x: 0, y: 0, w: canvasSize.width, h: canvasSize.height };
      const sight = view.projection(box, view.fit(now.seen, box)), { to, toward } = sight;
      facets(sight);
      if (!mesh) now.points.forEach((p) => view.line([to(now.com), to(p)], color("muted"), 0.9, [1, 4]));
      const order = [...now.points.keys()].sort((a, b) => dot(now.points[a], toward) - dot(now.points[b], toward));
      order.forEach((j) => contact(j, sight));
      loads(sight);
      if (!small) axes(box, sight);
    }

    return {
      show, draw, turn: (da, de) => view.turn(da, de), zoom: (factor) => view.zoom(factor), reset: () => show(now.grasp, HOME),
    };
  }

  return { make };
})();
