// Play, slider and speed of transport.html: which instant is shown. times(): those of what is shown now; render(i).
"use strict";
function player(page, times, render) {
  const [play, slider, speed] = ["play", "when", "speed"].map((id) => page.getElementById(id));
  const last = () => times().length - 1;
  let playing = false, at = 0, stamp = 0;

  function show(i) {
    slider.max = last();
    slider.value = i;
    render(Number(slider.value));
  }
  function run(on) {
    if (on && Number(slider.value) === last()) slider.value = 0;
    if (on && !playing) {
      at = times()[Number(slider.value)];
      requestAnimationFrame((first) => { stamp = first; step(first); });
    }
    playing = on;
    play.textContent = on ? "Pause" : "Play";
    play.setAttribute("aria-pressed", on);
  }
  function step(next) {
    if (!playing) return;
    at += (next - stamp) / 1e3 * Number(speed.value);
    stamp = next;
    const i = times().findIndex((t) => t >= at);
    show(i < 0 ? last() : i);
    if (i < 0) run(false);
    else requestAnimationFrame(step);
  }
  function seek(i) {
    run(false);
    show(Math.min(Math.max(i, 0), last()));
  }
  play.addEventListener("click", () => run(!playing));
  slider.addEventListener("input", () => seek(Number(slider.value)));
  const again = () => show(Math.min(Number(slider.value), last()));
  const keys = {
    " ": () => run(!playing),
    ",": () => seek(Number(slider.value) - 1),
    ".": () => seek(Number(slider.value) + 1),
  };
  return { again, seek, keys };
}
