// The pictures of a grasp at an instant: which sample is shown, and its contacts in numbers.
"use strict";
const GraspPicture = (() => {
  const STATES = ["sticks", "slips", "opens"];
  const shown = (x) => (x === null ? "–" : Math.abs(x) >= 100 ? x.toFixed(0) : x.toFixed(2));

  // One row for each contact: its number as in the picture, state, friction, normal and tangential force, the part of its friction in use.
  function rows(run) {
    return run.state[0].map((state, j) => {
      const [n, t, o] = run.force[0][j], mu = run.mu ? run.mu[j] : null, across = n === null ? null : Math.hypot(t, o);
      const used = mu && n > 1e-9 ? `${Math.round(100 * across / (mu * n))}\u202f%` : "–";
      return [j, n === null ? "–" : STATES[state] || "–", mu === null ? "–" : mu.toFixed(3), shown(n), shown(across), used];
    });
  }

  function start(page, data) {
    const find = (id) => page.getElementById(id), nominal = data.runs[0];
    const scenes = [["scene", false], ["scene-near", true]].map(([id, near]) => {
      const scene = GraspScene.make(find(id), data);
      scene.look(near);
      return { canvas: find(id), scene, near };
    });
    let run = nominal;
    const render = () => scenes.forEach(({ scene }) => scene.draw(run, 0, nominal));
    function choose(k) {
      run = data.runs[k];
      find("run").value = k;
      fillRows(find("contacts-now"), rows(run));
      find("outcome-now").textContent = data.outcomes[k];
      find("replay-now").textContent = data.commands[k];
      find("again").hidden = !data.commands[k];
      render();
    }
    find("run").addEventListener("change", () => choose(Number(find("run").value)));
    page.querySelectorAll("[data-show]").forEach((link) =>
      link.addEventListener("click", () => choose(Number(link.dataset.show))));
    scenes.forEach(({ canvas, scene, near }) => controlView(canvas, { ...scene, reset: () => scene.look(near) }, render, {}));
    choose(0);
  }

  return { start, rows };
})();
