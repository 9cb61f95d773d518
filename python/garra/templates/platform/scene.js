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
    const [low, high] = [Math.min, Math.max].map((pick) => [0, 1, 2].map((c) =>
      points.reduce((found, p) => pick(found, p[c]), points[0][c])));
    const view = orthographic(canvas, low, high, { azimuth: -60, elevation: 16 }), { context, line, extent } = view;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    canvas.dataset.font = getComputedStyle(document.body).fontFamily;

    function legColor(i, leg) {
      const force = data.force && data.force[i][leg];
      if (force === null || force === undefined || !data.force_limit) return color("accent");
      const share = Math.abs(force) / data.force_limit;
      return color(share >= 1 ? "break" : share >= 0.5 ? "slip" : "held");
    }

    function plate(corners, fill) {
      context.beginPath();
      corners.forEach((p) => context.lineTo(...p));
      context.closePath();
      const before = context.globalAlpha;
      context.globalAlpha = before * 0.25;
      context.fillStyle = fill;
      context.fill();
      context.globalAlpha = before;
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

    function arrow(from, end, to) {
      const seen = [from, end].map(to), [[px, py], [x, y]] = seen, head = Math.atan2(y - py, x - px);
      line(seen, color("ink"), 2);
      for (const side of [-2.6, 2.6]) {
        line([[x, y], [x + 9 * Math.cos(head + side), y + 9 * Math.sin(head + side)]], color("ink"), 2);
      }
      view.write("gravity", x + 8, y, color("ink"));
    }

    function axes(to) {
      const foot = base.reduce((sum, p) => add(sum, p, 1 / 6), [0, 0, 0]);
      ["x", "y", "z"].forEach((name, c) => {
        const way = room([0, 1, 2].map((k) => (k === c ? 0.16 * extent : 0))), [x, y] = to(add(foot, way, 1.15));
        line([to(foot), to(add(foot, way))], color("muted"), 1.3);
        view.write(name, x, y + 4, color("muted"), "center");
      });
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
      if (Math.hypot(...data.gravity)) arrow(path[i], add(path[i], [0, 0, -0.16 * extent]), to);
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
    find("reset").addEventListener("click", () => { scene.reset(); again(); });
    controlView(canvas, scene, again, keys);
    new ResizeObserver(again).observe(canvas);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    again();
  }

  return { start, tips };
})();
