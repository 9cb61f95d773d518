// Hands and keys on a scene's canvas: one pointer turns the view, two zoom, so do arrows and + - Home. `keys`: more keys and what
// they do; hover(x, y): the pointer is there without turning anything. Renders again where size or colors change.
"use strict";
function controlView(canvas, scene, render, keys, hover = () => {}) {
  const KEYS = {
    ArrowLeft: () => scene.turn(-5, 0),
    ArrowRight: () => scene.turn(5, 0),
    ArrowUp: () => scene.turn(0, 5),
    ArrowDown: () => scene.turn(0, -5),
    "+": () => scene.zoom(1.15),
    "=": () => scene.zoom(1.15),
    "-": () => scene.zoom(1 / 1.15),
    Home: () => scene.reset(),
    ...keys,
  };
  new ResizeObserver(render).observe(canvas);
  for (const media of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(media).addEventListener("change", render);
  document.getElementById("reset").addEventListener("click", () => { scene.reset(); render(); });
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
    render();
  });

  const pointers = new Map();
  const spread = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      const frame = canvas.getBoundingClientRect();
      hover(event.clientX - frame.left, event.clientY - frame.top);
      return;
    }
    const apart = pointers.size === 2 ? spread() : 0;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (apart) scene.zoom(spread() / apart);
    else if (pointers.size === 1) scene.turn(-0.4 * (event.clientX - before.x), 0.4 * (event.clientY - before.y));
    render();
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(kind, (event) => pointers.delete(event.pointerId));
  }
  // Only once the canvas has been clicked: scrolling past it must stay possible.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    scene.zoom(Math.exp(-0.0015 * event.deltaY));
    render();
  }, { passive: false });
}

// A function that draws once per frame, however often it is called.
function perFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
}

// Rows of texts in the body of a table.
function fillRows(body, rows) {
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    cells.forEach((text) => { row.insertCell().textContent = text; });
    return row;
  }));
}
