// Hand and objects on a canvas: fingers as polylines through their links, inward normals, forces as arrows in their friction
// cones. At an instant of a trajectory, or of a sample that has only one.
"use strict";
const GraspScene = (() => {
  const { add, dot, turned } = Space;
  const STATES = ["held", "slip", "break"];  // of a contact: sticks, slips, open
  const GRAVITY = 9.81;

  // The point of each contact at an instant: the fingertips, one for each contact, unless contacts have points.
  const tips = (run, i) => (run.point ? run.point[i] : run.links.map((rows) => rows[i][rows[i].length - 1]));

  // Motions of all objects of a trajectory.
  const bodies = (run) => [run, ...(run.others || [])];

  // Coordinates of the points of contacts on object k at the start, in its axes.
  function bodyPoints(run, k = 0, on = []) {
    const body = bodies(run)[k], [w, ...v] = body.quaternion[0], back = [w, ...v.map((c) => -c)];
    const own = tips(run, 0).filter((p, j) => p[0] !== null && (on.length === 0 || on[j] === k));
    return own.map((p) => turned(back, add(p, body.position[0], -1)));
  }

  const middle = (low, high) => low.map((v, c) => (v + high[c]) / 2);

  // Force that is drawn as long as the object is big: few are larger. [N]
  function largeForce(data) {
    const all = data.runs.flatMap((run) => run.force_palm.flat().filter((f) => f[0] !== null).map((f) => Math.hypot(...f)));
    all.sort((a, b) => a - b);
    return all[Math.floor(0.97 * (all.length - 1))] || 1;
  }

  function make(canvas, data) {
    const first = data.runs[0], stand = Space.uprightness(first.gravity[0]), room = (p) => turned(stand, p);
    const solids = [data, ...(data.others || [])], on = data.contact_objects || [];
    const sizes = solids.map((solid, k) => Solids.reach(solid, bodyPoints(first, k, on))), size = Math.max(...sizes);
    const centers = bodies(first).map(({ position }) => room(position[0]));
    const hand = data.runs.flatMap((run) => run.links.flat(2)).filter((p) => p[0] !== null).map(room);
    const around = (part) => centers.flatMap((center, k) => [0, 1, 2].flatMap((c) =>
      [-part, part].map((s) => center.map((v, i) => v + (i === c ? s * sizes[k] : 0)))));
    const whole = [...hand, ...around(1.2)], [low, high] = Space.bounds(whole), near = around(1.6);
    const view = orthographic(canvas, low, high, { azimuth: -22, elevation: 24 });
    let points = whole;
    const { context, line, write, arrow, color, dot: dot2 } = view, force = largeForce(data);

    // The whole hand in view, or the object alone.
    function look(closely) {
      points = closely ? near : whole;
      view.reset();
      view.aim(middle(...Space.bounds(points)));
    }

    function finger(points_, to) {
      const seen = points_.map(to);
      line(seen, color("paper"), 7);
      line(seen, color("ink"), 4);
      const [x, y] = seen[0];
      context.fillStyle = color("ink");
      context.fillRect(x - 6, y - 6, 12, 12);
      seen.slice(1, -1).forEach((p) => dot2(p, 3, color("paper"), color("ink")));
    }

    // The inward normal; where it carries no force it is shorter than any cone that is worth a look.
    function axis(tip, normal, c, { to }) {
      line([to(tip), to(add(tip, normal, Math.max(1.3 * size * c / force, 0.35 * size)))], color("muted"), 1, [5, 4]);
    }

    // The cone is as high as the normal force is long: the force's arrow ends on its disc, on the rim where it slips.
    function cone(tip, normal, c, mu, { to }) {
      Solids.cone(view, to, { tip, normal, height: 1.1 * size * c / force, mu }, color("accent"));
    }

    function contact(run, i, j, sight) {
      const at = tips(run, i)[j];
      if (!at || at[0] === null) return;
      const tip = room(at), f = run.force_palm[i][j], n = run.normal[i][j], c = run.force[i][j][0];
      const known = f[0] !== null && n[0] !== null;
      if (n[0] !== null) axis(tip, room(n), Math.max(c || 0, 0), sight);
      if (known && c > 0) {
        cone(tip, room(n), c, run.mu ? run.mu[j] : run.friction, sight);
        arrow(sight.to(tip), sight.to(add(tip, room(f), 1.1 * size / force)), color("accent"), 2.4, "");
      }
      const hue = color(STATES[run.state[i][j]] || "muted");
      dot2(sight.to(tip), 5, hue, color("paper"));
      const out = known ? add(tip, room(n), -0.22 * size) : tip, [x, y] = sight.to(out);
      write(String(j), x + 7, y - 7, color("ink"), "left", "600");
    }

    function palm(run, to) {
      const origin = to(room([0, 0, 0]));
      run.links.forEach((rows) => { if (rows[0][0][0] !== null) line([origin, to(room(rows[0][0]))], color("grid"), 3); });
      view.axes(origin, (c, length) => to(room([0, 1, 2].map((k) => (k === c ? 0.9 * size * length : 0)))));
    }

    function loads(run, i, to) {
      const center = room(run.position[i]), g = run.gravity[i], push = run.load[i].slice(0, 3);
      if (g[0] !== null) {
        const down = add(center, room(g), size / GRAVITY);
        arrow(to(center), to(down), color("ink"), 1.6, "gravity");
      }
      const strength = Math.hypot(...push);
      if (strength > 0) arrow(to(center), to(add(center, room(push), 1.1 * size / force)), color("break"), 2.2, "load");
    }

    const scaled = ({ scale: s }, solid) =>
      ({ ...solid, radius: s * solid.radius, height: s * solid.height, size: solid.size.map((v) => s * v) });
    const place = ({ quaternion, position }, i) => (p) => room(add(turned(quaternion[i], p), position[i]));

    // `start`: where it came from, or what it deviates from, is hinted at.
    function draw(run, i, start = run) {
      const canvasSize = view.begin();
      if (!canvasSize) return;
      const box = { x: 0, y: 0, w: canvasSize.width, h: canvasSize.height };
      const sight = view.projection(box, view.fit(points, box)), { to, toward } = sight;
      const center = room(run.position[i]);
      palm(run, to);
      if (i || start !== run) bodies(start).forEach((of, k) => ghost(sight, scaled(of, solids[k]), place(of, 0)));
      bodies(run).forEach((of) => line(of.position.slice(0, i + 1).map((p) => to(room(p))), color("held"), 1.4, [4, 4]));
      const fingers = run.links.map((rows) => rows[i]).filter((p) => p[0][0] !== null).map((p) => p.map(room));
      const behind = (p) => dot(add(p[p.length - 1], center, -1), toward) < 0;
      fingers.filter(behind).forEach((p) => finger(p, to));
      const depth = ({ position }) => dot(room(position[i]), toward);
      bodies(run).map((of, k) => ({ of, k })).sort((a, b) => depth(a.of) - depth(b.of)).forEach(({ of, k }) =>
        Solids.draw(view, sight, scaled(of, solids[k]), place(of, i), bodyPoints(run, k, on), color("muted")));
      fingers.filter((p) => !behind(p)).forEach((p) => finger(p, to));
      run.state[i].forEach((_, j) => contact(run, i, j, sight));
      loads(run, i, to);
    }

    function ghost({ to }, solid, stood) {
      const before = context.globalAlpha;
      context.globalAlpha = 0.6;
      Solids.outlines(solid).forEach(({ ring }) => line(ring.map((p) => to(stood(p))), color("muted"), 0.9, [1, 4]));
      context.globalAlpha = before;
    }

    return { draw, look, turn: view.turn, zoom: view.zoom };
  }

  return { make, tips, bodyPoints };
})();
