// Puts the animation, the plots that follow it and their controls together.
"use strict";
const GraspPage = (() => {
  const HUES = ["held", "accent", "slip", "break", "ink", "muted"];  // of the contacts
  const SIZE = [310, 190];
  const DEGREES = 180 / Math.PI;

  const times = (list, factor) => list.map((v) => (v === null ? null : factor * v));
  const drift = (run) => run.position.map((p) => 1e3 * Math.hypot(...p.map((v, c) => v - run.position[0][c])));

  // Angle between the orientation and that at the start [degrees].
  function turn(run) {
    const [w, x, y, z] = run.quaternion[0];
    return run.quaternion.map(([a, b, c, d]) => {
      const vector = [w * b - x * a - y * d + z * c, w * c - y * a - z * b + x * d, w * d - z * a - x * c + y * b];
      return 2 * DEGREES * Math.atan2(Math.hypot(...vector), Math.abs(w * a + x * b + y * c + z * d));
    });
  }

  function ofContacts(run, value) {
    return run.state[0].map((_, j) =>
      ({ x: run.time, y: run.time.map((_, i) => value(i, j)), color: HUES[j % HUES.length], dash: j < 6 ? "" : "3 2" }));
  }

  // Tangential force over what friction can give, as far as the friction is known; else over the normal force.
  const friction = (run, j) => (run.mu ? run.mu[j] : run.friction);
  function usage(run) {
    const known = run.state[0].every((_, j) => friction(run, j) > 0);
    const lines = ofContacts(run, (i, j) => {
      const [n, t, o] = run.force[i][j];
      return n === null || !(n > 1e-9) ? null : Math.hypot(t, o) / n / (known ? friction(run, j) : 1);
    });
    const label = known ? "tangential over largest possible" : "tangential over normal force";
    return { label, lines, levels: known ? [1] : [] };
  }

  const SPECS = {
    drift: (run) => ({ label: "mm (teal), degrees (blue)", lines: [
      { x: run.time, y: drift(run), color: "held" }, { x: run.time, y: turn(run), color: "accent" }] }),
    force: (run) => ({ label: "normal force [N]", lines: ofContacts(run, (i, j) => run.force[i][j][0]) }),
    slip: (run) => ({ label: "speed [mm/s]", lines: ofContacts(run, (i, j) =>
      (run.slip_speed[i][j] === null ? null : 1e3 * run.slip_speed[i][j])) }),
    usage,
    gravity: (run) => ({ label: "x, y, z [m/s²]: teal, blue, orange", lines: [0, 1, 2].map((c) =>
      ({ x: run.time, y: run.gravity.map((g) => g[c]), color: HUES[c] })) }),
    energy: (run) => ({ label: "kinetic (teal), balance (red) [mJ]", lines: [
      { x: run.time, y: times(run.kinetic, 1e3), color: "held" }, { x: run.time, y: times(run.balance, 1e3), color: "break" }] }),
  };

  // Of the speeds that there are the one with which the motion takes nearest to six seconds.
  function pickSpeed(select, run) {
    const away = ({ value }) => Math.abs(Math.log(run.time[run.time.length - 1] / 6 / Number(value)));
    select.value = [...select.options].reduce((a, b) => (away(a) <= away(b) ? a : b)).value;
  }

  function draw(host, run) {
    const until = run.time[run.time.length - 1] || 1;
    const { label, lines, levels = [] } = SPECS[host.dataset.runPlot](run);
    const slipped = [run.slip_time].filter((t) => t !== null && t < until);
    return Plots.draw(host, { name: label, size: SIZE, cursor: true, followed: lines, lines, levels, walls: slipped,
      x: { label: "time [s]", range: [0, until] }, y: { label, range: Plots.range(lines.map((l) => l.y), [0, ...levels]) } });
  }

  // What the page says below the picture.
  function told(run, i) {
    const time = `${run.time[i].toFixed(3)} s`, moved = `${drift(run)[i].toFixed(1)} mm`;
    const last = i === run.time.length - 1, ended = last && !["held", "slipped"].includes(run.outcome);
    return ended ? `${time}: ${run.outcome.replaceAll("_", " ")}` : `${time}, drift ${moved}`;
  }

  function start(page, data) {
    const find = (id) => page.getElementById(id), canvas = find("scene"), scene = GraspScene.make(canvas, data);
    let run = data.runs[0], plots = [];
    function render(i) {
      scene.draw(run, i);
      plots.forEach((plot) => plot.at(run.time[i], [i, 0]));
      find("now").textContent = told(run, i);
    }
    const play = player(page, () => run.time, render);
    function choose(k) {
      run = data.runs[k];
      find("run").value = k;
      plots = [...page.querySelectorAll("[data-run-plot]")].map((host) => draw(host, run));
      find("cones").textContent = run.mu ? "" : run.friction === null ? "Cones are not drawn: no friction is known."
        : "Cones are those of the nominal friction; a grasp’s own deviates.";
      pickSpeed(find("speed"), run);
      play.seek(0);
    }
    function look() {
      scene.look(find("near").value === "object");
      play.again();
    }
    find("run").addEventListener("change", () => choose(Number(find("run").value)));
    find("near").addEventListener("change", look);
    page.querySelectorAll("[data-show]").forEach((link) =>
      link.addEventListener("click", () => choose(Number(link.dataset.show))));
    controlView(canvas, { ...scene, reset: look }, play.again, play.keys);
    choose(0);
  }

  return { start, drift, turn, usage };
})();
