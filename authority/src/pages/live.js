// Keeps a page up to date: listens to the stream that `main` names, asks for the same page when something has changed,
// and takes over what is different in its regions. A form that is there stays as it is, with what was typed; nothing
// moves while the pointer is on something to press; focus and scroll stay where they are.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  const bar = document.getElementById("live");
  if (!main || !bar) return;
  const [told, button, spoken] = ["told", "toggle", "spoken"].map((name) => bar.querySelector(`.${name}`));
  const PAUSE = 2000, SLOWLY = 30000, HELD = 300;
  // The marks of what is shown, and of what the stream told of last.
  let shown = main.dataset.seen, heard = shown;
  let source = null, timer = 0, asking = false, pressed = false, on = true, touched = 0, spokenAt = -SLOWLY;

  function remembered(choice) {
    try {
      if (choice) sessionStorage.setItem("live", choice);
      return sessionStorage.getItem("live");
    } catch {
      return null; // A browser that keeps nothing.
    }
  }

  // Where nothing hovers, the last thing that was touched would seem to.
  function busy() {
    const over = "a:hover, button:hover, summary:hover, input:hover, select:hover, textarea:hover";
    return pressed || (matchMedia("(hover: hover)").matches && main.querySelector(over) !== null);
  }

  function plan(wait) {
    clearTimeout(timer);
    timer = setTimeout(update, wait);
  }

  function listen() {
    source?.close();
    source = null;
    if (!on || document.hidden) return;
    const { live } = main.dataset;
    source = new EventSource(`${live}${live.includes("?") ? "&" : "?"}seen=${shown}`);
    source.onopen = () => { told.textContent = "This page keeps itself up to date."; };
    source.addEventListener("changed", ({ lastEventId }) => {
      heard = lastEventId;
      if (heard !== shown && !timer && !asking) plan(0);
    });
    source.onerror = () => {
      // Otherwise the browser connects again. Refused, because too many listen or the session has ended: what the page
      // answers says which.
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null;
      told.textContent = "This page is brought up to date every 30 seconds.";
      plan(0);
    };
  }

  async function update() {
    timer = 0;
    if (!on || document.hidden) return;
    if (busy()) return plan(HELD);
    const before = heard, begun = performance.now();
    asking = true;
    try {
      const headers = { "x-requested-with": "live" };
      const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual" });
      if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) {
        return stop("Your session has ended: this page is not kept up to date.");
      }
      if (!answer.ok) return plan(SLOWLY);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      if (!on) return;
      if (busy()) return plan(HELD);
      take(fresh);
      shown = fresh.dataset.seen || before;
    } catch {
      return plan(SLOWLY); // The network.
    } finally {
      asking = false;
    }
    const wait = source ? Math.max(PAUSE, 2 * (performance.now() - begun)) : SLOWLY;
    timer = setTimeout(() => {
      timer = 0;
      if (!source) listen(); else if (heard !== before && heard !== shown) update();
    }, wait);
  }

  function take(fresh) {
    touched = 0;
    for (const region of main.querySelectorAll("[data-region]")) {
      const its = fresh.querySelector(`[data-region="${region.dataset.region}"]`);
      if (its) children(region, its);
    }
    if (touched && performance.now() - spokenAt > SLOWLY) {
      spokenAt = performance.now();
      spoken.textContent = `The page changed at ${new Date().toLocaleTimeString()}.`;
    }
  }

  // What a node is among its siblings: a row is known by where it leads.
  function named(nodes) {
    const counts = new Map();
    return [...nodes].map((node) => {
      const row = /^(TR|LI)$/.test(node.nodeName) && node.querySelector("a");
      const name = `${node.nodeName} ${node.id || node.dataset?.key || (row && row.href) || ""}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return [`${name} ${counts.get(name)}`, node];
    });
  }

  const focused = (node) => node.contains(document.activeElement);

  function children(old, fresh) {
    const kept = new Map(named(old.childNodes)), wanted = named(fresh.childNodes);
    const names = new Set(wanted.map(([name]) => name));
    for (const [name, node] of kept) {
      if (names.has(name) || focused(node)) continue;
      node.remove();
      touched += 1;
    }
    let at = old.firstChild;
    for (const [name, node] of wanted) {
      const mine = kept.get(name);
      if (!mine) {
        old.insertBefore(document.importNode(node, true), at);
        touched += 1;
        continue;
      }
      if (mine === at) at = at.nextSibling;
      else if (!focused(mine)) old.insertBefore(mine, at);
      same(mine, node);
    }
  }

  function same(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.nodeValue = fresh.nodeValue;
      touched += 1;
    } else if (old.nodeName === "FORM") {
      if (old.getAttribute("action") === fresh.getAttribute("action") || focused(old)) return;
      old.replaceWith(document.importNode(fresh, true));
      touched += 1;
    } else {
      // What somebody has unfolded stays open.
      for (const { name } of [...old.attributes]) {
        if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
      }
      for (const { name, value } of fresh.attributes) {
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
      }
      children(old, fresh);
    }
  }

  function stop(text) {
    on = false;
    clearTimeout(timer);
    timer = 0;
    listen();
    told.textContent = text;
    button.textContent = "Keep this page up to date";
  }

  function start() {
    on = true;
    told.textContent = "Connecting.";
    button.textContent = "Stop";
    listen();
  }

  button.addEventListener("click", () => {
    remembered(on ? "off" : "on");
    if (on) stop("This page is not kept up to date."); else start();
  });
  document.addEventListener("visibilitychange", () => { if (on) listen(); });
  for (const type of ["pointerdown", "pointerup", "pointercancel"]) {
    document.addEventListener(type, () => { pressed = type === "pointerdown"; });
  }
  const unscripted = document.getElementById("unscripted");
  if (unscripted) unscripted.hidden = true;
  bar.hidden = false;
  if (remembered() === "off") stop("This page is not kept up to date."); else start();
})();
