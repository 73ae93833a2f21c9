// In every measured page from its first moment: when it was asked, when a picture was complete and on screen, and how
// long its main thread was busy at a stretch. Times are milliseconds of performance.now().
(() => {
  let root = null;
  const find = (node) => {
    for (const child of node.querySelectorAll("*")) {
      if (child.hasAttribute("data-painted")) return child;
      const inner = child.shadowRoot && find(child.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  const bench = (globalThis.bench = {
    asked: 0,
    armed: false,
    /** {time, shown}: the first task after the frame in which the whole picture was drawn. */
    painted: [],
    /** {start, length} of tasks longer than 50 ms. */
    long: [],
    /** What the view says that it shows, "" while there is none: base|layer|head|focus|tab. */
    shown() {
      if (!root?.isConnected) root = document.body && find(document.body);
      return root?.getAttribute("data-painted") ?? "";
    },
    /** The next key or pointer event counts as the question. */
    begin() {
      bench.armed = true;
      bench.painted.length = 0;
      bench.long.length = 0;
    },
    /** The next task: after the frame, when a frame is being drawn. */
    afterThis: () => new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(performance.now());
      port2.postMessage(0);
    }),
    afterFrame: () => new Promise((done) => requestAnimationFrame(() => bench.afterThis().then(done))),
  });
  const asked = (event) => {
    if (!bench.armed) return;
    bench.armed = false;
    bench.asked = event.timeStamp; // when the system had it, before any handler
  };
  for (const kind of ["keydown", "pointermove", "pointerup"]) addEventListener(kind, asked, true);
  const mark = performance.mark.bind(performance);
  performance.mark = (name, options) => {
    if (name === "headlight:painted") {
      const shown = bench.shown();
      bench.afterThis().then((time) => bench.painted.push({ time, shown }));
    }
    return mark(name, options);
  };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) bench.long.push({ start: entry.startTime, length: entry.duration });
  }).observe({ type: "longtask", buffered: true });
})();
