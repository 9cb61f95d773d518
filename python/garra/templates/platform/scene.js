// A platform on six legs on a canvas, gravity downwards, legs colored by force over the allowed force.
"use strict";
const PlatformScene = (() => {
  const { cross, dot, add, turned, uprightness } = Space;

  // Upper ends of the legs at an instant, base axes.
  function tips(data, i) {
    return data.platform_anchors.map((a) => add(turned(data.quaternion[i], a), data.position[i]));
  }

  function make(canvas, data) {
    const last = data.time.length - 1, stand = uprightness(data.gravity);
    const room = (p) => turned(stand, p);
    const base = data.base_anchors.map(room), path = data.position.map(room);
    const rings = data.time.map((_, i) => tips(data, i).map(room));
    const points = [...base, ...rings.flat()];
    const view = orthographic(canvas, ...Space.bounds(points), { azimuth: -60, elevation: 16 }), { context, line, extent, color } = view;

    function legColor(i, leg) {
      const force = data.force && data.force[i][leg];
      if (force === null || force === undefined || !data.force_limit) return color("accent");
      const share = Math.abs(force) / data.force_limit;
      return color(share >= 1 ? "break" : share >= 0.5 ? "slip" : "held");
    }

    function plate(corners, fill) {
      view.polygon(corners, fill, 0.25);
      line([...corners, corners[0]], fill, 3.5);
    }

    function legs(i, to, hue) {
      rings[i].forEach((tip, leg) => {
        const foot = base[leg], way = add(tip, foot, -1), all = Math.hypot(...way);
        // The tube is as long as the leg at its shortest: what is seen of the rod is what the stroke has let out.
        const tube = Math.min(0.85 * (data.length_min[leg] || 0.6 * all) / all, 0.95);
        line([foot, tip].map(to), hue || legColor(i, leg), 3);
        line([foot, add(foot, way, tube)].map(to), hue || legColor(i, leg), 7);
      });
    }

    function ghost(i, to) {
      context.globalAlpha = 0.22;
      legs(i, to, color("muted"));
      plate(rings[i].map(to), color("muted"));
      context.globalAlpha = 1;
    }

    function axes(to) {
      const foot = base.reduce((sum, p) => add(sum, p, 1 / 6), [0, 0, 0]);
      view.axes(to(foot), (c, length) => to(add(foot, room([0, 1, 2].map((k) => (k === c ? 0.16 * extent * length : 0))))));
    }

    function draw(i) {
      const size = view.begin();
      if (!size) return;
      const box = { x: 0, y: 0, w: size.width, h: size.height };
      const { to, toward } = view.projection(box, view.fit(points, box));
      plate(base.map(to), color("ink"));
      axes(to);
      for (const k of new Set([0, last])) if (k !== i) ghost(k, to);
      line(path.map(to), color("accent"), 1.5, [4, 4]);
      const above = dot(toward, cross(add(rings[i][1], rings[i][0], -1), add(rings[i][3], rings[i][0], -1)));
      if (above < 0) plate(rings[i].map(to), color("ink"));  // seen from below: its legs hide it
      legs(i, to, "");
      if (above >= 0) plate(rings[i].map(to), color("ink"));
      base.forEach((foot, leg) => {
        const [x, y] = to(add(foot, add(rings[i][leg], foot, -1), 0.3));
        view.write(String(leg), x + 9, y - 6, color("ink"), "left", "600");
      });
      if (Math.hypot(...data.gravity)) view.arrow(to(path[i]), to(add(path[i], [0, 0, -0.16 * extent])), color("ink"), 2, "gravity");
    }
    return { draw, reset: view.reset, turn: view.turn, zoom: view.zoom };
  }

  function start(page, data) {
    const find = (id) => page.getElementById(id), canvas = find("scene"), scene = make(canvas, data);
    function render(i) {
      const forces = data.force ? data.force[i].filter((f) => f !== null).map(Math.abs) : [];
      scene.draw(i);
      const largest = forces.length ? `; largest force ${Math.max(...forces).toFixed(1)} N` : "";
      find("now").textContent = (data.labels ? data.labels[i] : `${data.time[i].toFixed(2)} s`) + largest;
    }
    const { again, keys } = player(page, () => data.time, render);
    controlView(canvas, scene, again, keys);
    again();
  }

  return { start, tips };
})();
