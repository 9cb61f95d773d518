// The arm of one configuration on a canvas: axes, common normals, lost wrenches; a slider carries out the escape motion.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("arm-data").textContent);
  const canvas = document.getElementById("scene"), slider = document.getElementById("step");
  const reach = 0.3 * data.size;
  const every = data.poses.flatMap((pose) => pose.arm);
  const [low, high] = Space.bounds(every.flatMap((p) => [Space.add(p, [reach, reach, reach]), Space.add(p, [reach, reach, reach], -1)]));
  const view = orthographic(canvas, low, high, { azimuth: -60, elevation: 20 });
  const { line, color, write, dot, arrow } = view;

  function axis(to, [x, y, z, ...u], k) {
    const p = [x, y, z], hue = color(data.dependent.includes(k) ? "break" : "held");
    const ends = [-reach, reach].map((s) => to(Space.add(p, u, s)));
    line(ends, hue, 2, data.kinds[k] === "prismatic" ? [7, 5] : data.kinds[k] === "helical" ? [12, 3, 2, 3] : []);
    write(`${k}`, ends[1][0] + 5, ends[1][1] - 3, hue, "left", "600");
    dot(to(p), 4.5, color("paper"), hue);
  }

  function wrench(to, w, k) {
    const from = to(Space.add(w.point, w.along, -reach)), end = to(Space.add(w.point, w.along, reach));
    line([from, end], color("slip"), 1.4, [2, 4]);
    arrow(to(w.point), end, color("slip"), 3, `lost ${w.couple ? "couple" : "force"} ${k}`);
  }

  function draw() {
    const size = view.begin();
    if (!size) return;
    const box = { x: 0, y: 0, w: size.width, h: size.height };
    const { to, pixels } = view.projection(box, 0.95);
    const pose = data.poses[Number(slider.value)];
    view.axes(to([0, 0, 0]), (c, length) => to([0, 1, 2].map((k) => (k === c ? 0.25 * data.size * length : 0))), 1.2);
    if (Number(slider.value)) line(data.poses[0].arm.map(to), color("grid"), 4);
    line(pose.arm.map(to), color("ink"), 4);
    pose.axes.forEach((a, k) => axis(to, a, k));
    if (!Number(slider.value)) data.wrenches.forEach((w, k) => wrench(to, w, k));
    view.scaleBar(box, pixels);
    const share = Number(slider.value) / Math.max(1, data.poses.length - 1);
    document.getElementById("now").textContent = data.poses.length > 1 ? `${(share * data.escape.turn).toFixed(2)} rad` : "";
  }

  slider.max = data.poses.length - 1;
  slider.disabled = data.poses.length < 2;
  slider.addEventListener("input", draw);
  controlView(canvas, { turn: view.turn, zoom: view.zoom, reset: view.reset }, draw, {});
  draw();
})();
