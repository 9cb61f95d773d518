// A platform on six legs on a canvas, gravity downwards, legs colored by force over the allowed force.
"use strict";
const PlatformScene = (() => {
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const add = (a, b, s = 1) => a.map((v, c) => v + s * b[c]);

  // v turned by the unit quaternion (w, x, y, z).
  function turned([w, x, y, z], v) {
    const t = cross([x, y, z], v), u = cross([x, y, z], t);
    return v.map((c, k) => c + 2 * (w * t[k] + u[k]));
  }

  // Upper ends of the legs at an instant, base axes.
  function tips(data, i) {
    return data.platform_anchors.map((a) => add(turned(data.quaternion[i], a), data.position[i]));
  }

  // Turns base axes so that gravity points down: as the machine stands, or hangs, in the room.
  function uprightness(gravity) {
    const size = Math.hypot(...gravity);
    if (!size) return [1, 0, 0, 0];
    const up = gravity.map((v) => -v / size), axis = cross(up, [0, 0, 1]), w = 1 + up[2];
    if (w < 1e-9) return [0, 1, 0, 0];
    const norm = Math.hypot(w, ...axis);
    return [w, ...axis].map((v) => v / norm);
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

    // So that the whole motion fills the canvas, seen as it is when the canvas gets its size.
    let fitted = { w: 0, h: 0, share: 1 };
    function fit(w, h) {
      if (w === fitted.w && h === fitted.h) return fitted.share;
      const { to } = view.projection({ x: 0, y: 0, w, h }, 1);
      const most = points.map(to).reduce((m, [x, y]) => Math.max(m, Math.abs(x / w - 0.5), Math.abs(y / h - 0.5)), 0.1);
      fitted = { w, h, share: 0.45 / most };
      return fitted.share;
    }

    function draw(i) {
      const size = view.begin();
      if (!size) return;
      const box = { x: 0, y: 0, w: size.width, h: size.height };
      const { to, toward } = view.projection(box, fit(box.w, box.h));
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
        view.write(String(leg + 1), x + 9, y - 6, color("ink"), "left", "600");
      });
      if (Math.hypot(...data.gravity)) arrow(path[i], add(path[i], [0, 0, -0.16 * extent]), to);
    }
    return { draw, reset: view.reset, turn: view.turn, zoom: view.zoom };
  }

  function start(page, data) {
    const find = (id) => page.getElementById(id), [canvas, play, slider, now] = ["scene", "play", "when", "now"].map(find);
    const scene = make(canvas, data), end = data.time.length - 1;
    let playing = false, at = data.time[0], stamp = 0;
    function render() {
      const i = Number(slider.value), forces = data.force ? data.force[i].filter((f) => f !== null).map(Math.abs) : [];
      scene.draw(i);
      const largest = forces.length ? `; largest force ${Math.max(...forces).toFixed(1)} N` : "";
      now.textContent = `${data.time[i].toFixed(2)} s${largest}`;
    }
    function run(on) {
      if (on && Number(slider.value) === end) slider.value = 0;
      if (on && !playing) {
        at = data.time[Number(slider.value)];
        requestAnimationFrame((first) => { stamp = first; step(first); });
      }
      playing = on;
      play.textContent = on ? "Pause" : "Play";
      play.setAttribute("aria-pressed", on);
    }
    function step(next) {
      if (!playing) return;
      at += (next - stamp) / 1e3 * Number(find("speed").value);
      stamp = next;
      const i = data.time.findIndex((t) => t >= at);
      slider.value = i < 0 ? end : i;
      render();
      if (i < 0) run(false);
      else requestAnimationFrame(step);
    }
    function seek(i) {
      run(false);
      slider.value = i;
      render();
    }
    play.addEventListener("click", () => run(!playing));
    slider.addEventListener("input", () => seek(Number(slider.value)));
    find("reset").addEventListener("click", () => { scene.reset(); render(); });
    controlView(canvas, scene, render, {
      " ": () => run(!playing),
      ",": () => seek(Math.max(Number(slider.value) - 1, 0)),
      ".": () => seek(Math.min(Number(slider.value) + 1, end)),
    });
    new ResizeObserver(render).observe(canvas);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
    render();
  }

  return { start, tips, uprightness, turned };
})();
