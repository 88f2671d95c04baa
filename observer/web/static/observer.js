// Keys, copying, and live updates that rest while nobody looks. The pages work without it.
"use strict";
(() => {
  const $ = (pattern) => document.querySelector(pattern);
  const say = (text) => { const said = $("#said"); if (said) said.textContent = text; };
  const PAGES = { n: "/", t: "/timeline", s: "/sessions", o: "/project", k: "/notes", v: "/given", u: "/usage", p: "/privacy", h: "/health" };
  let leading = 0;

  function step(by, pattern = "[data-row]") {
    const rows = [...document.querySelectorAll(pattern)];
    if (!rows.length) return;
    const here = rows.findLastIndex((row) => row.contains(document.activeElement));
    const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + by, 0), rows.length - 1)];
    const to = next.matches("[tabindex]") ? next : next.querySelector("a, button");
    if (document.body.classList.contains("is-replaying")) reach(next);
    if (to) { to.focus(); next.scrollIntoView({ block: "nearest" }); }
  }

  // A replay shows a session up to one step, with what stands below that step unfolded.
  function reach(row) {
    let later = false;
    for (const one of document.querySelectorAll(".turn[data-row], .turn [data-row], .turn > .reply")) {
      const steps = one.matches(".reply") ? one.parentNode.querySelectorAll("[data-row]") : [];
      const after = one.matches(".reply") ? steps[steps.length - 1] || one.parentNode : null;
      one.classList.toggle("is-later", later && after !== row);
      if (one === row) later = true;
      if (one.matches("li")) one.querySelectorAll(":scope > details").forEach((fold) => { fold.open = one === row; });
    }
  }

  function replay() {
    const rows = [...document.querySelectorAll(".turn[data-row], .turn [data-row]")];
    if (!rows.length) return;
    const starts = document.body.classList.toggle("is-replaying");
    if (!starts) { document.querySelectorAll(".is-later").forEach((one) => one.classList.remove("is-later")); return; }
    const here = rows.findLast((row) => row.contains(document.activeElement)) || rows[0];
    reach(here);
    here.focus();
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = event.target.closest("input, textarea, select");
    if (inField) { if (event.key === "Escape") { event.preventDefault(); inField.blur(); } return; }
    const goes = leading && Date.now() - leading < 1200 ? PAGES[event.key] : "";
    leading = event.key === "g" ? Date.now() : 0;
    if (goes) { location.assign(goes); return; }
    const pair = event.target.closest(".pair");
    if (pair && "123".includes(event.key)) { pair.querySelectorAll("button[name=how]")[event.key - 1].click(); return; }
    const acts = {
      "/": () => { const field = $("[data-search]"); if (field) field.focus(); else location.assign("/search"); },
      "j": () => step(1),
      "k": () => step(-1),
      "J": () => step(1, ".turn[data-row]"),
      "K": () => step(-1, ".turn[data-row]"),
      "r": replay,
      "n": () => { const next = $("a[rel=next]"); if (next) next.click(); },
      "?": () => { const keys = $("#keys"); if (keys && !keys.open) keys.showModal(); },
    };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  }

  async function clicked(event) {
    const button = event.target.closest("[data-opens], [data-copy], [data-copy-address]");
    if (!button) return;
    if (button.dataset.opens) { $("#" + button.dataset.opens).showModal(); return; }
    const text = button.dataset.copy ? $("#" + button.dataset.copy).textContent : location.href;
    await navigator.clipboard.writeText(text);
    say("copied");
    button.textContent = "Copied";
  }

  function reveal(root) {
    root.querySelectorAll("button[data-opens], button[data-copy], button[data-copy-address]").forEach((one) => { one.hidden = false; });
  }

  // A browser has six connections to a host: a page that nobody sees gives its own back.
  let resting = null;
  function looked() {
    const live = $("[data-live]");
    if (document.hidden && live) {
      resting = live.cloneNode(true);
      const still = document.createElement("div");
      still.id = "resting";
      live.parentNode.insertBefore(still, live);
      htmx.remove(live);
    } else if (!document.hidden && resting) {
      const still = $("#resting");
      still.replaceWith(resting);
      htmx.process(resting);
      htmx.trigger("#live", "sse:changed");
      resting = null;
    }
  }

  // A request that a newer one replaces, or that a page takes with it, is no error to be written down.
  htmx.logger = (_, name, detail) => {
    if (["htmx:afterRequest", "htmx:sendAbort", "htmx:sendError"].includes(name)) delete detail.error;
  };
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", clicked);
  document.addEventListener("visibilitychange", looked);
  document.addEventListener("htmx:afterSwap", () => reveal(document));
  document.addEventListener("htmx:sseOpen", () => document.body.classList.add("is-live"));
  document.addEventListener("htmx:sseError", () => document.body.classList.remove("is-live"));
  reveal(document);
  // By autofocus the browser would wait for its first frame, and lose a key pressed before.
  const first = $("[data-first]");
  if (first) first.focus();
  const here = $(".top nav [aria-current]");
  if (here) here.parentNode.scrollLeft = here.offsetLeft - here.parentNode.clientWidth / 2;
  // What waits for a daemon that begins anew asks until it answers.
  const waits = $("[data-waits]");
  if (waits) setInterval(() => {
    fetch(waits.dataset.waits).then((answer) => answer.text()).then((text) => {
      if (!text.includes("data-waits")) location.replace(waits.dataset.waits);
    }, () => {});
  }, 1000);
  const login = $("form[data-submit]");
  if (login) login.requestSubmit();
})();
