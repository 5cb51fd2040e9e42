"use strict";
// Everything from the table is set as text, never as HTML. Addresses are relative, so that they hold the token.

const SVG = "http://www.w3.org/2000/svg";
const by = (id) => document.getElementById(id);
const clusters = new Set();
const rows = new Set();
let state = {}, answer = null, why = {}, report = 0, last = "";

function make(tag, text, cls) {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (cls) one.className = cls;
  return one;
}

function button(text, press, cls) {
  const one = make("button", text, cls);
  one.type = "button";
  one.addEventListener("click", press);
  return one;
}

const colour = (number) => (number < 0 ? "" : `k${number % 10}`);
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function complain(text) {
  by("error").textContent = text;
  by("error").hidden = !text;
}

async function ask(path, words) {
  const options = words ? { method: "POST", body: JSON.stringify(words), headers: { "Content-Type": "application/json" } } : {};
  const response = await fetch(path, options);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error || response.statusText);
  return value;
}

async function act(path, words = {}) {
  try {
    complain("");
    await show(await ask(path, words));
    return true;
  } catch (error) {
    complain(error.message);
    return false;
  }
}

function nameOf(cluster) {
  return state.names[cluster.number] || cluster.proposed || "no name";
}

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
  if (set === rows && set.has(value)) list(value);
  mark();
}

// a row that is selected in the map or the report stands in the table too, with its cells

async function list(row) {
  if (answer.rows.some((one) => one.row === row)) return;
  try {
    const one = await ask(`row/${row}`);
    if (answer.rows.some((other) => other.row === row)) return;
    answer.rows.push(one);
    by("rows").tBodies[0].prepend(lineOf(one));
    mark();
  } catch (error) {
    rows.delete(row);
    mark();
    complain(error.message);
  }
}

// what is selected, wherever it is shown

function mark() {
  for (const one of document.querySelectorAll("[data-cluster]")) one.setAttribute("aria-pressed", clusters.has(Number(one.dataset.cluster)));
  for (const one of document.querySelectorAll("[data-row]")) {
    const chosen = rows.has(Number(one.dataset.row));
    one.classList.toggle("chosen", chosen);
    const inner = one.querySelector("button");
    if (inner) inner.setAttribute("aria-pressed", chosen);
  }
  const inside = by("report").contentDocument;
  if (inside) for (const one of inside.querySelectorAll("[data-explore]")) {
    const [set, value] = one.dataset.explore === "row" ? [rows, one.dataset.value] : [clusters, one.dataset.value];
    one.textContent = set.has(Number(value)) ? "selected" : "select";
    one.setAttribute("aria-pressed", set.has(Number(value)));
  }
  by("why").replaceChildren(...[...rows].filter((row) => why[row]).map((row) => make("li", `Row ${row}: ${why[row]}`)));
  const parts = [];
  if (clusters.size) parts.push(`cluster${clusters.size > 1 ? "s" : ""} ${[...clusters].join(", ")}`);
  if (rows.size) parts.push(`row${rows.size > 1 ? "s" : ""} ${[...rows].join(", ")}`);
  by("selected").textContent = `Selected: ${parts.join("; ")}`;
  by("bar").hidden = !parts.length;
  const one = clusters.size === 1, some = clusters.size ? one && rows.size > 0 : rows.size > 1;
  const can = { join: clusters.size > 1, split: one, name: one, together: some, apart: some };
  document.querySelector("[data-say=together]").textContent = one ? "Rows belong to it" : "These belong together";
  document.querySelector("[data-say=apart]").textContent = one ? "Rows do not" : "These do not";
  for (const one of document.querySelectorAll("[data-say]")) {
    one.disabled = !can[one.dataset.say];
    one.hidden = one.disabled;
  }
  by("name").hidden = !can.name;
}

function clear() {
  clusters.clear();
  rows.clear();
  mark();
}

async function say(kind) {
  const words = { kind, answer: state.answer, clusters: [...clusters], rows: [...rows], name: by("name").value };
  if (await act("say", words)) {
    by("name").value = "";
    clear();
  }
}

// what the server has

async function show(next) {
  state = next;
  by("status").hidden = !state.running;
  by("progress").textContent = `${state.progress} (${state.seconds} s)`;
  const text = JSON.stringify({ ...next, seconds: 0, progress: "" });
  if (text === last) return; // buttons stay, so that none is replaced while it is pressed
  last = text;
  if (state.answer && (!answer || answer.answer !== state.answer)) {
    answer = await ask("answer");
    why = {};
    clear();
    by("report-section").hidden = true; // that of the earlier clusters
    showAnswer();
  }
  if (state.error) complain(`The fit failed: ${state.error}`);
  by("saved").textContent = state.saved;
  by("next").textContent = !state.takes_number || state.next === "auto" ? "as many clusters as the method finds" : `${state.next} cluster${state.next === "1" ? "" : "s"}`;
  by("command").textContent = state.command;
  by("links").parentElement.hidden = !state.links;
  by("number-form").hidden = !state.takes_number;
  by("fit").disabled = by("again").disabled = state.fitting;
  by("fit").classList.toggle("main", state.stale);
  by("stale").hidden = !state.stale;
  by("again").hidden = Boolean(answer) || state.fitting;
  by("nothing").hidden = state.statements.length > 0;
  by("statements").replaceChildren(...state.statements.map((one) => {
    const item = make("li", one.text, one.fitted ? "" : "new");
    item.append(button("undo", () => act("undo", { id: one.id })));
    return item;
  }));
  if (!answer) {
    by("verdict").textContent = state.fitting ? "The first fit is running." : "There are no clusters.";
    return;
  }
  showClusters();
  if (state.explained && !Object.keys(why).length) {
    why = await ask("why");
    mark();
  }
  if (state.report && state.report !== report && state.report === state.answer) {
    report = state.report;
    by("report-section").hidden = false;
    by("report").src = `report?${report}`;
  }
}

function showClusters() {
  const sure = answer.confidence === null ? "" : `, confidence ${Math.round(100 * answer.confidence)} %`;
  const noise = answer.noise ? `; ${plural(answer.noise, "row")} in none` : "";
  by("verdict").textContent = `${plural(answer.n_rows, "row")}, ${plural(answer.clusters.length, "cluster")} by ${answer.method}${sure}${noise}`;
  by("clusters").replaceChildren(...answer.clusters.map((one) => {
    const card = button("", () => toggle(clusters, one.number), `cluster ${colour(one.number)}`);
    card.dataset.cluster = one.number;
    card.append(make("strong", `${one.number}: ${nameOf(one)}`), make("span", `${plural(one.size, "row")} (${Math.round(100 * one.share)} %)`, "soft"), make("span", one.rule, "soft"));
    return card;
  }));
  mark();
}

function showAnswer() {
  document.title = by("title").textContent = answer.title.split("/").pop();
  document.querySelector("main").hidden = false;
  by("save").disabled = !answer.files.labels && !answer.files.model;
  by("save").title = by("save").disabled ? "Start with --out-labels FILE or --out-model FILE" : "";
  by("how").textContent = `${plural(answer.map.length, "row")} in ${answer.how}.`;
  by("map").replaceChildren(...answer.map.map(([row, x, y, number]) => {
    const dot = document.createElementNS(SVG, "circle");
    dot.setAttribute("cx", 100 * x);
    dot.setAttribute("cy", 70 * (1 - y));
    dot.setAttribute("r", 0.9);
    dot.setAttribute("class", colour(number));
    dot.dataset.row = row;
    const title = document.createElementNS(SVG, "title");
    title.textContent = `row ${row}, ${number < 0 ? "no cluster" : `cluster ${number}`}`;
    dot.append(title);
    dot.addEventListener("click", () => toggle(rows, row));
    return dot;
  }));
  const head = make("tr");
  head.append(...["row", "cluster", "neighbours in it", ...answer.header].map((name) => make("th", name)));
  by("rows").tHead.replaceChildren(head);
  by("rows").tBodies[0].replaceChildren(...answer.rows.map(lineOf));
  by("columns").replaceChildren(...answer.columns.map((one) => {
    const item = make("li", one.name);
    item.append(one.why ? make("span", ` ${one.why}`, "soft") : button("leave out", () => act("say", { kind: "leave_out", columns: [one.name] })));
    return item;
  }));
  by("notes").replaceChildren(...answer.notes.map((text) => make("li", text)));
  by("notes-section").hidden = !answer.notes.length;
}

function lineOf(one) {
  const line = make("tr");
  line.dataset.row = one.row;
  const first = make("td"), second = make("td");
  first.append(button(one.row, () => toggle(rows, one.row)));
  second.append(make("span", undefined, `dot ${colour(one.cluster)}`), one.cluster < 0 ? "none" : String(one.cluster));
  line.append(first, second, make("td", one.certainty === undefined || one.certainty === null ? "" : `${Math.round(100 * one.certainty)} %`), ...one.cells.map((text) => make("td", text)));
  return line;
}

// the report selects too: clusters by their headings, rows by the first cell of tables of rows

function openReport() {
  const inside = by("report").contentDocument;
  const main = inside && inside.querySelector("main");
  if (!main) return;
  const add = (place, kind, value, set) => {
    const one = inside.createElement("button");
    one.dataset.explore = kind;
    one.dataset.value = value;
    one.addEventListener("click", () => toggle(set, Number(value)));
    place.append(" ", one);
  };
  for (const one of inside.querySelectorAll("h3[id^=cluster-]")) add(one, "cluster", one.id.slice(8), clusters);
  for (const table of inside.querySelectorAll("table")) {
    const head = table.querySelector("th");
    if (!head || head.textContent !== "row") continue;
    for (const cell of table.querySelectorAll("tr > td:first-child")) add(cell, "row", cell.textContent.replace(/\D/g, ""), rows);
  }
  mark();
  fitReport();
}

function fitReport() {
  const inside = by("report").contentDocument;
  if (inside && inside.body) by("report").style.height = `${inside.body.scrollHeight + 40}px`;
}

async function poll() {
  try {
    await show(await ask("state"));
    setTimeout(poll, state.running ? 400 : 1500);
  } catch (error) {
    complain(`The server does not answer: ${error.message}. Start clusterkit explore again.`);
    setTimeout(poll, 5000);
  }
}

for (const one of document.querySelectorAll("[data-say]")) one.addEventListener("click", () => say(one.dataset.say));
by("again").addEventListener("click", () => act("fit"));
for (const name of ["fit", "stop", "save"]) by(name).addEventListener("click", () => act(name));
by("clear").addEventListener("click", clear);
by("report").addEventListener("load", openReport);
window.addEventListener("resize", fitReport);
by("number-form").addEventListener("submit", (event) => {
  event.preventDefault();
  act("say", { kind: "number", number: Number(by("number").value) });
});
by("row-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const row = Number(by("row").value);
  by("row").value = "";
  complain("");
  if (!rows.has(row)) toggle(rows, row);
});
poll();
