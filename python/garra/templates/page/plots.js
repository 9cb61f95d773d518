// Line plots as SVG text: axes, bands, lines, and marks that follow the animation's time.
"use strict";
const Plots = (() => {
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const minus = (text) => text.replace("-", "−");
  const px = (x) => x.toFixed(1);
  let plots = 0;  // made so far: clip paths need names

  function ticks(low, high, most) {
    const step = tickStep(high - low, most), found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
    const decimals = Math.min(Math.max(-Math.floor(Math.log10(step) + 1e-9), 0), 8);
    return found.map((value) => [value, minus((value + 0).toFixed(decimals))]);
  }

  // Range of all finite numbers, a little wider; never empty.
  function range(lists, always = []) {
    let low = Infinity, high = -Infinity;
    for (const list of [...lists, always]) {
      for (const v of list) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    if (low > high) return [0, 1];
    const pad = 0.05 * (high - low) || Math.abs(high) * 0.1 || 1;
    return [low - pad, high + pad];
  }

  function path(xs, ys, X, Y) {
    let text = "", open = false;
    xs.forEach((x, i) => {
      if (x === null || ys[i] === null) { open = false; return; }
      text += `${open ? "L" : "M"}${px(X(x))} ${px(Y(ys[i]))}`;
      open = true;
    });
    return text;
  }

  // Between two curves, in pieces where one of them is unknown.
  function region({ x, low, high }, X, Y) {
    let text = "", piece = [];
    const close = () => {
      const there = piece.map((i) => `${px(X(x[i]))} ${px(Y(high[i]))}`);
      const back = [...piece].reverse().map((i) => `${px(X(x[i]))} ${px(Y(low[i]))}`);
      if (piece.length > 1) text += `M${[...there, ...back].join("L")}Z`;
      piece = [];
    };
    x.forEach((_, i) => { if (low[i] === null || high[i] === null) close(); else piece.push(i); });
    close();
    return text;
  }

  // The same scale on both axes: widens the range that has room to spare.
  function equalize(x, y, width, height) {
    const scale = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
    return [[x, width], [y, height]].map(([r, length]) => {
      const more = (scale * length - (r[1] - r[0])) / 2;
      return [r[0] - more, r[1] + more];
    });
  }

  const label = (x, y, anchor, words, kind = "tick") =>
    `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}" class="${kind}">${escaped(words)}</text>`;

  // Where the axes lie in the drawing: X and Y take data to pixels.
  function frame(spec) {
    const [W, H] = spec.size, left = 46, right = 8, top = 20, bottom = 34;
    const width = W - left - right, height = H - top - bottom;
    const [x, y] = spec.equal
      ? equalize(spec.x.range, spec.y.range, width, height) : [spec.x.range, spec.y.range];
    const X = (v) => left + (v - x[0]) / (x[1] - x[0]) * width;
    const Y = (v) => top + height - (v - y[0]) / (y[1] - y[0]) * height;
    return { W, H, left, top, width, height, x, y, X, Y };
  }

  function axes(spec, { H, left, top, width, height, x, y, X, Y }) {
    const along = ticks(...x, Math.max(3, width / 44)).map(([v, words]) =>
      `<path class="rule" d="M${px(X(v))} ${top}V${top + height}"/>${label(X(v), top + height + 13, "middle", words)}`);
    const up = ticks(...y, Math.max(3, height / 24)).map(([v, words]) =>
      `<path class="rule" d="M${left} ${px(Y(v))}H${left + width}"/>${label(left - 5, Y(v) + 3.5, "end", words)}`);
    return along.join("") + (spec.bare ? "" : up.join("")) + label(left + width, H - 4, "end", spec.x.label, "label") +
      label(left, 11, "start", spec.y.label, "label");
  }

  function marks(spec, { left, top, height, x, X, Y }) {
    const rect = (x0, x1, y0, y1, kind) => {  // at least 5 pixels wide and high: a mark must be seen
      const w = Math.max(X(x1) - X(x0), 5), h = Math.max(Y(y0) - Y(y1), 5);
      const corner = `x="${px((X(x0) + X(x1) - w) / 2)}" y="${px((Y(y0) + Y(y1) - h) / 2)}"`;
      return `<rect ${corner} width="${px(w)}" height="${px(h)}" class="${kind}"/>`;
    };
    const dot = (v) => v.x === null || v.y === null ? "" :
      `<circle cx="${px(X(v.x))}" cy="${px(Y(v.y))}" r="3.4" fill="var(--${v.color})" stroke="var(--paper)"/>`;
    const curve = (l) => `<path class="line" d="${path(l.x, l.y, X, Y)}" stroke="var(--${l.color})"` +
      ` stroke-width="1.6" stroke-opacity="${l.opacity || 1}" stroke-dasharray="${l.dash || "none"}"/>`;
    const area = (a) => `<path d="${region(a, X, Y)}" fill="var(--${a.color})" fill-opacity="${a.opacity || 0.2}"/>`;
    const rule = (v) => `<path class="wall" stroke-dasharray="1 2" d="M${left} ${px(Y(v))}H${px(X(x[1]))}"/>`;
    return [
      ...(spec.areas || []).map(area),
      ...(spec.levels || []).map(rule),
      ...(spec.bands || []).map(([y0, y1]) => rect(...x, y0, y1, "band")),
      ...(spec.boxes || []).map((box) => rect(...box, "box")),
      ...(spec.walls || []).map((v) => `<path class="wall" d="M${px(X(v))} ${top}V${top + height}"/>`),
      ...spec.lines.map(curve),
      ...(spec.dots || []).map(dot),
      spec.cursor ? `<path class="cursor" d="M${left} ${top}V${top + height}"/>` : "",
      ...(spec.followed || []).map((f) =>
        `<circle class="follower" r="3.6" fill="var(--${f.color})" stroke="var(--paper)"/>`),
    ].join("");
  }

  // Draws into `host`. spec: name, size [w, h], x and y {label, range}, equal, and marks in data units:
  //   lines [{x, y, color, dash, opacity}], areas [{x, low, high, color, opacity}] between two curves, bands [[y0, y1]],
  //   boxes [[x0, x1, y0, y1]], walls [x], levels [y], bare (no vertical axis),
  //   dots [{x, y, color}], cursor (a line at the time), followed [{x, y, color}] (dots at the time).
  // Returns {at(time, place)}: moves cursor and dots; place = [index, fraction] in the series.
  function draw(host, spec) {
    const room = Math.max(host.clientWidth, 310);  // a wide plot has fewer numbers on a phone
    const size = [Math.min(spec.size[0], host.clientWidth ? room : spec.size[0]), spec.size[1]];
    const box = frame({ ...spec, size }), clip = `plot-clip-${++plots}`;
    const inside = `x="${box.left}" y="${box.top - 2}" width="${box.width + 3}" height="${box.height + 4}"`;
    host.classList.add("plot");
    host.innerHTML = `<svg class="figure" style="--least:${(11.5 * box.W / 352).toFixed(1)}px" viewBox="0 0 ${box.W} ${box.H}" role="img" aria-label="${escaped(spec.name)}">` +
      `<clipPath id="${clip}"><rect ${inside}/></clipPath>${axes(spec, box)}` +
      `<g clip-path="url(#${clip})">${marks(spec, box)}</g></svg>`;
    const cursor = host.querySelector(".cursor"), followers = host.querySelectorAll(".follower");
    return {
      at(time, place) {
        if (cursor) cursor.setAttribute("transform", `translate(${px(box.X(time) - box.left)} 0)`);
        (spec.followed || []).forEach((f, i) => {
          const x = between(f.x, place), y = between(f.y, place), ended = x === null || y === null;
          followers[i].style.display = ended ? "none" : "";
          if (ended) return;
          followers[i].setAttribute("cx", px(box.X(x)));
          followers[i].setAttribute("cy", px(box.Y(y)));
        });
      },
    };
  }

  // A series at a time between two outputs; null where it has ended.
  function between(list, [index, fraction]) {
    const a = list[index], b = list[Math.min(index + 1, list.length - 1)];
    return a === null || b === null ? null : a + fraction * (b - a);
  }

  return { draw, range, between };
})();
