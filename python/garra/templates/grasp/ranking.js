// The page of a ranking: a table of up to hundreds of thousands of grasps, sorted and filtered here, and their pictures.
"use strict";
const Ranking = (() => {
  const PAGE = 25;
  // Row i, entry c of a column; null where the page has none.
  function reader(column) {
    if (!column) return null;
    if (column.all) return (i, c = 0) => column.all[c];
    const values = unpacked(column.data, column.kind), width = column.width;
    return (i, c = 0) => values[i * width + c];
  }

  // --- what is written

  // With a minus sign, and none before zeros.
  const fixed = (x, decimals) => { const text = x.toFixed(decimals); return Number(text) === 0 ? (0).toFixed(decimals) : text.replace("-", "−"); };
  // Never rounds to 100 % what is not exactly that.
  const share = (p) => `${p < 1 && p >= 0.99995 ? "> 99.99" : fixed(100 * p, 2)}\u202f%`;
  const friction = (mu) => (Number.isNaN(mu) ? "–" : mu === Infinity ? "none" : mu > 0 && mu < 5e-4 ? mu.toExponential(0).replace("-", "−") : mu.toFixed(3));
  const newtons = (x) => (Number.isNaN(x) ? "–" : x === Infinity ? "any" : String(Number(x.toPrecision(3))));
  const many = (n) => n.toLocaleString("en-US");

  function unpack(data) {
    const names = ["held", "unsolved", "samples", "p_held", "low", "high", "difference", "difference_low", "difference_high", "friction", "radius", "contacts"];
    const rows = Object.fromEntries(names.map((name) => [name, reader(data[name])]));
    const grasp = unpacked(data.grasp, "<u4");
    // The counts are exact, the columns of 32 bits are not.
    const p = (i) => { const decided = rows.samples(i) - rows.unsolved(i); return decided > 0 ? rows.held(i) / decided : rows.p_held(i); };
    return { ...rows, p, grasp: (i) => grasp[i], name: (i) => (data.names && data.names[i]) || "", count: data.count };
  }

  // --- pictures

  function unpackPictures(found, rows) {
    if (!found || !found.count) return null;
    const point = reader(found.point), normal = reader(found.normal), mu = reader(found.friction.set), limit = reader(found.limit);
    const [mass, com, gravity, wrench, size] = ["mass", "com", "gravity", "wrench", "size"].map((name) => reader(found[name]));
    const first = new Float64Array(found.count + 1);
    for (let i = 0; i < found.count; i++) first[i + 1] = first[i] + rows.contacts(i);
    const hand = unpackMesh(found.hand), corners = hand && hand.vertex.length / found.hand.count;
    const { low, step } = found.point, three = (read, i) => [0, 1, 2].map((c) => read(i, c));
    const of = (i) => {
      const contacts = [...Array(first[i + 1] - first[i]).keys()].map((k) => first[i] + k);
      return {
        names: contacts.map((r, k) => (found.contact_names && found.contact_names[r]) || String(k)),
        points: contacts.map((r) => three(point, r).map((v, c) => low[c] + step[c] * v)),
        normals: contacts.map((r) => three(normal, r).map((v) => v / 32767)),
        friction: contacts.map((r) => found.friction.factor * (mu ? mu(r) : 1)),
        limit: contacts.map((r) => (limit ? limit(r) : null)),
        mass: mass ? mass(i) : null,
        size: size ? size(i) : 1,
        hand: hand && i < found.hand.count ? { vertex: hand.vertex.slice(i * corners, (i + 1) * corners), face: hand.face } : null,
        com: three(com, i),
        gravity: three(gravity, i),
        push: wrench ? three(wrench, i) : [0, 0, 0],
        moment: wrench ? [3, 4, 5].map((c) => wrench(i, c)) : [0, 0, 0],
      };
    };
    return { of, count: found.count, mesh: unpackMesh(found.mesh) };
  }

  function unpackMesh(mesh) {
    if (!mesh) return null;
    const threes = (values) => [...Array(values.length / 3).keys()].map((k) => [...values.subarray(3 * k, 3 * k + 3)]);
    return { vertex: threes(unpacked(mesh.vertex, "<f4")), face: threes(unpacked(mesh.face, "<u4")) };
  }

  // --- the table

  // What a column is sorted by, and its first direction.
  const KEYS = {
    rank: [(rows) => (i) => i, 1],
    grasp: [(rows) => rows.grasp, 1],
    p: [(rows) => rows.p, -1],
    difference: [(rows) => rows.difference, -1],
    friction: [(rows) => (i) => rows.friction(i, 2), 1],
    radius: [(rows) => rows.radius, -1],
    contacts: [(rows) => rows.contacts, 1],
    unsolved: [(rows) => rows.unsolved, -1],
  };

  // Rows that pass the filters, in their order; equal ones by rank, those that have no number last.
  function chosen(rows, { least, most, contacts, find }, key, direction) {
    const words = find.trim().toLowerCase(), found = [];
    for (let i = 0; i < rows.count; i++) {
      if (!(rows.p(i) >= least)) continue;
      if (most !== null && !(rows.friction(i, 2) <= most)) continue;
      if (contacts !== null && rows.contacts(i) !== contacts) continue;
      if (words && String(rows.grasp(i)) !== words && !rows.name(i).toLowerCase().includes(words)) continue;
      found.push(i);
    }
    const value = KEYS[key][0](rows);
    const late = (x) => (Number.isNaN(x) ? Infinity : direction * x);
    return key === "rank" && direction > 0 ? found : found.sort((a, b) => {
      const u = late(value(a)), v = late(value(b));
      return u < v ? -1 : u > v ? 1 : a - b;
    });
  }

  function cells(rows, i) {
    const half = (rows.difference_high(i) - rows.difference_low(i)) / 2;
    return [
      ["rank", many(i + 1)],
      ["grasp", rows.name(i) || many(rows.grasp(i))],
      ["p", share(rows.p(i)), `${share(rows.low(i))} to ${share(rows.high(i))}`],
      ["difference", share(-rows.difference(i)), `± ${share(half)}`],
      ...(rows.friction ? [["friction", [0, 1, 2].map((c) => friction(rows.friction(i, c))).join(" · ")]] : []),
      ...(rows.radius ? [["radius", newtons(rows.radius(i))]] : []),
      ...(rows.contacts ? [["contacts", String(rows.contacts(i))]] : []),
      ["unsolved", many(rows.unsolved(i))],
    ];
  }

  function start(page, data) {
    const find = (id) => page.getElementById(id), rows = unpack(data), pictures = unpackPictures(data.pictures, rows);
    const state = { key: "rank", direction: 1, from: 0, shown: [], picked: 0 };
    const show = pictures ? startPictures(page, rows, pictures, () => write()) : () => {};

    function number(id) {
      const given = find(id) && find(id).value.trim();
      return given ? Number(given) : null;
    }
    function filter() {
      const filters = { least: (number("least") || 0) / 100 - 1e-12, most: number("most"), contacts: number("contacts-of"), find: find("find").value };
      state.shown = chosen(rows, filters, state.key, state.direction);
      state.from = 0;
      write();
    }
    function row(i) {
      const line = page.createElement("tr");
      for (const [key, text, beside] of cells(rows, i)) {
        const cell = line.insertCell();
        cell.className = key === "grasp" ? "" : "right";
        if (key === "grasp" && pictures && i < pictures.count) {
          const link = page.createElement("button");
          Object.assign(link, { type: "button", className: "link", textContent: text, title: "show its picture" });
          link.addEventListener("click", () => { show(i); find("picture").scrollIntoView({ block: "nearest" }); });
          cell.append(link);
        } else cell.textContent = text;
        if (beside) cell.append(Object.assign(page.createElement("span"), { className: "beside", textContent: ` ${beside}` }));
      }
      line.classList.toggle("picked", Boolean(pictures) && i === show.now());
      return line;
    }
    function write() {
      const { shown, from } = state, to = Math.min(from + PAGE, shown.length);
      find("grasps").replaceChildren(...shown.slice(from, to).map(row));
      find("told").textContent = shown.length
        ? `${many(from + 1)} to ${many(to)} of ${many(shown.length)}${shown.length < rows.count ? ` (of all ${many(rows.count)})` : ""}`
        : "no grasp passes these filters";
      find("before").disabled = from === 0;
      find("after").disabled = to >= shown.length;
      for (const head of page.querySelectorAll("[data-key]")) {
        const sorted = head.dataset.key === state.key ? (state.direction > 0 ? "ascending" : "descending") : "none";
        head.closest("th").setAttribute("aria-sort", sorted);
      }
    }
    for (const head of page.querySelectorAll("[data-key]")) {
      head.addEventListener("click", () => {
        const key = head.dataset.key, first = KEYS[key][1];
        state.direction = key === state.key ? -state.direction : first;
        state.key = key;
        filter();
      });
    }
    for (const id of ["least", "most", "contacts-of", "find"]) {
      if (find(id)) find(id).addEventListener("input", filter);
    }
    find("before").addEventListener("click", () => { state.from = Math.max(state.from - PAGE, 0); write(); });
    find("after").addEventListener("click", () => { state.from += PAGE; write(); });
    if (pictures) show(0);
    filter();
  }

  // The small pictures of the best, and the large one of any: returns what shows a row, with now() for which that is.
  function startPictures(page, rows, pictures, changed) {
    const find = (id) => page.getElementById(id), canvas = find("picture-canvas");
    const large = CandidateScene.make(canvas, pictures.mesh, false), small = [];
    const millimeters = (v) => v.map((x) => fixed(1000 * x, 1)).join(", ");
    let now = -1;

    function show(i) {
      const grasp = pictures.of(i);
      now = i;
      large.show(grasp);
      large.draw();
      const name = rows.name(i) ? `${rows.name(i)} (grasp ${rows.grasp(i)})` : `grasp ${rows.grasp(i)}`;
      find("picture-name").textContent = `Rank ${many(i + 1)}: ${name}, P(held) = ${share(rows.p(i))} (${share(rows.low(i))} to ${share(rows.high(i))})`;
      find("picture-load").textContent = [
        grasp.mass !== null ? `mass ${Number(grasp.mass.toPrecision(4))} kg` : "",
        `center of mass (${millimeters(grasp.com)}) mm`,
        Math.hypot(...grasp.push) ? `external force (${grasp.push.map((v) => fixed(v, 3)).join(", ")}) N` : "",
        Math.hypot(...grasp.moment) ? `external moment (${grasp.moment.map((v) => fixed(v, 4)).join(", ")}) N·m` : "",
      ].filter(Boolean).join("; ");
      const told = (limit) => (limit === null || limit === Infinity ? "none" : Number(limit.toPrecision(4)));
      fillRows(find("picture-contacts"), grasp.points.map((p, j) =>
        [grasp.names[j], millimeters(p), grasp.normals[j].map((v) => fixed(v, 3)).join(", "), grasp.friction[j].toFixed(3), told(grasp.limit[j])]));
      page.querySelectorAll("[data-picture]").forEach((b) => b.setAttribute("aria-pressed", String(Number(b.dataset.picture) === i)));
      changed();
    }
    show.now = () => now;

    for (const button of page.querySelectorAll("[data-picture]")) {
      const i = Number(button.dataset.picture), scene = CandidateScene.make(button.querySelector("canvas"), pictures.mesh, true);
      scene.show(pictures.of(i));
      small.push(scene);
      button.addEventListener("click", () => show(i));
      new ResizeObserver(() => scene.draw()).observe(button);
    }
    controlView(canvas, large, large.draw, {});
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => small.forEach((scene) => scene.draw()));
    return show;
  }

  return { start, unpack, chosen };
})();
