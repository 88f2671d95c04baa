// A tool's results in a client that shows views (MCP Apps): messages of its host in, nodes out.
// Text of others becomes text nodes, never HTML.
"use strict";
(() => {
  const $ = (pattern, within = document) => within.querySelector(pattern);
  const root = document.documentElement, found = $("#found"), view = document.body.dataset.view;
  const say = (text) => { $("#said").textContent = text; };
  const waiting = new Map();
  let asked = 0, given = {}, entries = [], zone;

  // The host's origin is not known: it may be an application. Only its window is listened to.
  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const tell = (method, params = {}) => send({ method, params });
  const request = (method, params) => new Promise((done, failed) => {
    waiting.set(++asked, { done, failed });
    send({ id: asked, method, params });
  });

  function heard({ source, data }) {
    if (source !== parent || !data || data.jsonrpc !== "2.0") return;
    if (data.method === undefined) {
      const one = waiting.get(data.id);
      waiting.delete(data.id);
      if (one && data.error) one.failed(new Error(data.error.message));
      else if (one) one.done(data.result);
    } else if (data.id === undefined) {
      (HEARD[data.method] || (() => {}))(data.params || {});
    } else if (["ping", "ui/resource-teardown"].includes(data.method)) {
      send({ id: data.id, result: {} });
    } else {
      send({ id: data.id, error: { code: -32601, message: "Method not found" } });
    }
  }

  function adopt(context) {
    if (context.theme) root.style.colorScheme = context.theme;
    zone = context.timeZone || zone;
  }

  const refused = (result) => say(result.content.map((part) => part.text || "").join("\n"));

  // Returns what a tool answered as data, or null when it said why not.
  async function call(name, args) {
    say("…");
    try {
      const result = await request("tools/call", { name, arguments: args });
      if (result.isError) refused(result); else say("");
      return result.isError ? null : result;
    } catch (error) {
      say(error.message);
      return null;
    }
  }

  const made = (tag, text, kind = "") => Object.assign(document.createElement(tag), { textContent: text, className: kind });
  const clone = (name) => $("#" + name).content.firstElementChild.cloneNode(true);

  function minute(at) {
    const time = new Date(at);
    return isNaN(time) ? at : time.toLocaleString("sv", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  }

  function marked(text, words) {
    const known = words.filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!known.length) return [text];
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(${known.sort((one, other) => other.length - one.length).join("|")})`, "giu");
    return text.split(pattern).map((part, place) => (place % 2 ? made("mark", part) : part));
  }

  function about(line, at, ...more) {
    line.replaceChildren(made("time", minute(at)), ...more.filter(Boolean));
  }

  function explain(fold, why) {
    for (const term of fold.querySelectorAll("dt")) {
      const value = why[term.dataset.signal], cell = term.nextElementSibling;
      if (!value) { cell.remove(); term.remove(); continue; }
      const isShare = !Number.isInteger(value) && value <= 1;
      cell.textContent = isShare ? ` ${value.toFixed(2)}` : [value].flat().join(", ");
      if (!isShare) continue;
      const picture = clone("bar");
      picture.setAttribute("aria-label", value);
      $(".bar", picture).setAttribute("width", 80 * value);
      cell.prepend(picture);
    }
  }

  function row(item, why) {
    const one = clone("row"), kind = $(".chip", one), link = $(".title a", one), text = $(".excerpt", one);
    const words = why ? why.terms : [];
    kind.textContent = item.type;
    kind.className = `chip chip-${item.type.replace(/[^\w-]/g, "")}`;
    link.replaceChildren(...marked(item.title, words));
    link.id = `i${item.id || item.uuid}`;
    link.href = `#${link.id}`;
    link.addEventListener("click", (event) => { event.preventDefault(); open(one, item); });
    if (item.text) text.replaceChildren(...marked(item.text, words)); else text.remove();
    about($(".about", one), item.created_at, item.project && made("span", item.project),
      ...(item.validity || []).map((label) => made("span", label, "caveat")), item.why && made("span", item.why, "caveat"));
    const fold = $(".why", one);
    if (fold && why) explain(fold, why); else if (fold) fold.remove();
    if (item.depth) one.classList.add(`depth${Math.min(item.depth, 5)}`);
    if (item.position === 0) link.setAttribute("aria-current", "true");
    return one;
  }

  async function open(one, item) {
    const shown = $("pre", one);
    if (shown) { shown.remove(); return; }
    const result = await call("get_observations", { ids: [item.id || item.uuid] });
    const [whole] = result ? result.structuredContent.observations : [];
    if (!whole) return;
    const said = Object.entries(whole.answers || {}).map(([name, text]) => `${name}: ${text}`);
    const files = [whole.files_read, whole.files_modified].filter(Boolean).join(", ");
    const text = [whole.subtitle, whole.text || whole.narrative, ...said, whole.facts, files].filter(Boolean).join("\n\n");
    const block = made("pre", text || "nothing more is known of it");
    block.tabIndex = 0;
    block.setAttribute("aria-label", item.title);
    one.append(block);
  }

  const nothing = (text) => { const section = made("section", "", "empty"); section.append(made("h2", text)); return section; };

  function search(content, meta) {
    const reasons = new Map((meta["observer/why"] || []).map((why) => [why.id, why]));
    entries = [...content.observations, ...content.summaries].sort((one, other) => other.score - one.score);
    found.replaceChildren(...(entries.length ? entries.map((hit) => row(hit, reasons.get(hit.id))) : [nothing("Nothing found")]));
    say([content.notice, content.degraded].filter(Boolean).join("; "));
    const limit = given.limit || 10;
    $("#more").hidden = entries.length < limit || limit >= 50;
  }

  function timeline(content) {
    const known = new Set(entries.map((one) => one.id)), fresh = content.timeline.filter((one) => !known.has(one.id));
    const isLater = known.size && content.timeline.length && known.has(content.timeline[0].id);
    entries = isLater ? [...entries, ...fresh] : [...fresh, ...entries];
    const days = new Map();
    for (const one of entries) {
      const day = minute(one.created_at).slice(0, 10);
      if (!days.has(day)) {
        days.set(day, made("section", "", "day"));
        days.get(day).append(made("h2", day));
      }
      days.get(day).append(row(one));
    }
    found.replaceChildren(...days.values());
    $("#older").hidden = $("#more").hidden = !entries.length;
    return fresh.length;
  }

  async function further(edge, args) {
    const result = await call("timeline", { anchor_id: edge.id, depth_before: 0, depth_after: 0, ...args });
    if (result && !timeline(result.structuredContent)) say("nothing more");
  }

  function review(content) {
    found.replaceChildren(...content.open.map((pair, place) => {
      const one = clone("pair"), sides = one.querySelectorAll("article");
      one.setAttribute("aria-label", `Pair ${place + 1} of ${content.total}`);
      [[pair.id, pair.said, pair.at], [pair.other, pair.other_said, pair.other_at]].forEach(([id, said, at], side) => {
        $("h2", sides[side]).textContent = `Note ${id}`;
        $(".prose", sides[side]).textContent = said;
        about($(".about", sides[side]), at);
      });
      for (const button of one.querySelectorAll("button")) button.addEventListener("click", () => settle(pair, button.value));
      return one;
    }));
    if (!content.open.length) found.append(nothing("Nothing to settle"));
    say([...content.settled.map((one) => one.problem || `${one.id} ${one.how} ${one.other}`), content.degraded].filter(Boolean).join("; "));
  }

  async function settle({ id, other }, how) {
    const result = await call("resolve", { project: given.project || "", pairs: [{ id, how, other }] });
    if (!result) return;
    review(result.structuredContent);
    const next = $(".pair button");
    if (next) next.focus();
  }

  const SHOWS = { search, timeline, review };
  const HEARD = {
    "ui/notifications/tool-input": ({ arguments: args }) => {
      given = args || {};
      if ($("#q")) $("#q").value = given.query || "";
    },
    "ui/notifications/tool-result": (result) => {
      if (result.isError || !result.structuredContent) refused(result);
      else SHOWS[view](result.structuredContent, result._meta || {});
    },
    "ui/notifications/tool-cancelled": () => say("cancelled"),
    "ui/notifications/host-context-changed": adopt,
  };

  // Asks again with what the tool was given, but for a change.
  async function look(change) {
    const wanted = { ...given, ...change };
    const result = await call("search", wanted);
    if (!result) return;
    given = wanted;
    search(result.structuredContent, result._meta || {});
  }

  function step(by) {
    const rows = [...document.querySelectorAll("[data-row]")];
    const here = rows.findIndex((one) => one.contains(document.activeElement));
    const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + by, 0), rows.length - 1)];
    if (next) $("a, button", next).focus();
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === $("#q")) {
      if (event.key === "Enter") look({ query: event.target.value });
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const pair = document.activeElement.closest(".pair");
    const button = pair && pair.querySelectorAll("button")[["1", "2", "3"].indexOf(event.key)];
    const act = [...document.querySelectorAll("[data-key]:not([hidden])")].find((one) => one.dataset.key === event.key);
    if (button || act) (button || act).click();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else if (event.key === "/" && $("#q")) $("#q").focus();
    else return;
    event.preventDefault();
  }

  const bind = (pattern, act) => { const button = $(pattern); if (button) button.addEventListener("click", act); };
  bind("#ask", () => look({ query: $("#q").value }));
  bind("#older", () => further(entries[0], { depth_before: 20 }));
  bind("#more", () => (view === "search" ? look({ limit: Math.min((given.limit || 10) + 20, 50) }) : further(entries.at(-1), { depth_after: 20 })));
  addEventListener("keydown", pressed);
  addEventListener("message", heard);
  request("ui/initialize", {
    appInfo: { name: "observer", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] }, protocolVersion: "2026-01-26",
  }).then((host) => {
    adopt(host.hostContext || {});
    tell("ui/notifications/initialized");
    new ResizeObserver(() => tell("ui/notifications/size-changed", {
      width: innerWidth, height: Math.ceil(root.getBoundingClientRect().height),
    })).observe(root);
  }, (error) => say(error.message));
})();
