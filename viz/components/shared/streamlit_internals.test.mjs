// The state of a run, from messages of Streamlit's protocol, and the check of its version.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  checkStreamlit,
  createDebt,
  createRuns,
  createTurns,
  drawChartsInTurn,
  EXPECTED,
  fieldsOf,
} from "./streamlit_internals.js";

const bytes = (...values) => new Uint8Array(values);
const HASH = [0x0a, 2, 0x61, 0x62]; // field 1, "ab"
const METADATA = [0x12, 0];
const RERUN = bytes(0x5a, 2, 0x0a, 0); // field 11
const OF_FRAGMENT = bytes(0x5a, 5, 0x0a, 0, 0x2a, 1, 0x62); // its field 5, "b"
const OF_NONE = bytes(0x5a, 4, 0x0a, 0, 0x2a, 0);
const UPLOAD = bytes(0x82, 0x01, 0); // field 16
const BEGUN = bytes(...HASH, ...METADATA, 0x22, 0); // field 4
const PART = bytes(...METADATA, 0x2a, 3, 0x30, 0, 0); // field 5, with content that looks like field 6
const ended = (how) => bytes(...METADATA, 0x30, how); // field 6
const ANOTHER = 2;

describe("a message", () => {
  test("is its fields, each skipped by its length", () => {
    assert.deepEqual([...fieldsOf(PART)], [[2, bytes()], [5, bytes(0x30, 0, 0)]]);
    assert.deepEqual([...fieldsOf(ended(3))], [[2, bytes()], [6, 3]]);
    assert.deepEqual([...fieldsOf(UPLOAD)], [[16, bytes()]]);
    const fixed = bytes(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 0xac, 0x02); // 64 bits, 32 bits, 300
    assert.deepEqual([...fieldsOf(fixed)], [[1, 0], [2, 0], [3, 300]]);
    assert.equal(fieldsOf(bytes()).size, 0);
  });

  test("that is cut off ends", () => {
    assert.deepEqual([...fieldsOf(bytes(0x2a, 200))], [[5, bytes()]]);
    assert.deepEqual([...fieldsOf(bytes(0x2a, 2, 7))], [[5, bytes(7)]]);
    assert.deepEqual([...fieldsOf(bytes(0x80))], [[0, 0]]);
  });
});

describe("the runs", () => {
  const after = (...steps) => {
    const runs = createRuns();
    for (const [way, message] of steps) runs[way](message);
    return runs.ended();
  };
  test("nothing asked is nothing to wait for", () => {
    assert.equal(after(), true);
    assert.equal(after(["sent", UPLOAD]), true);
  });
  test("what is asked is waited for until a run has begun and ended", () => {
    assert.equal(after(["sent", RERUN]), false);
    assert.equal(after(["sent", RERUN], ["came", BEGUN]), false);
    assert.equal(after(["sent", RERUN], ["came", BEGUN], ["came", PART]), false);
    assert.equal(after(["sent", RERUN], ["came", BEGUN], ["came", ended(0)]), true);
    assert.equal(after(["sent", RERUN], ["came", BEGUN], ["came", ended(3)]), true, "of a fragment");
  });
  test("the end of an earlier run answers nothing that was asked in it", () => {
    assert.equal(after(["sent", RERUN], ["came", BEGUN], ["sent", RERUN], ["came", ended(0)]), false);
    assert.equal(
      after(["sent", RERUN], ["came", BEGUN], ["sent", RERUN], ["came", ended(0)], ["came", BEGUN], ["came", ended(0)]),
      true,
    );
  });
  test("a run that stops for another one is no end", () => {
    assert.equal(after(["came", BEGUN], ["came", ended(ANOTHER)]), false);
    assert.equal(after(["came", BEGUN], ["came", ended(ANOTHER)], ["came", BEGUN], ["came", ended(0)]), true);
  });
  test("with the connection goes what was asked on it", () => {
    assert.equal(after(["sent", RERUN], ["lost"]), true);
  });
});

describe("a run that is owed", () => {
  /** Return the number of reruns requested, after all timers. */
  const asked = async (...messages) => {
    let count = 0;
    const debt = createDebt(() => count += 1);
    debt.due();
    for (const message of messages) {
      debt.sent(message);
      await new Promise((done) => setTimeout(done));
    }
    return count;
  };
  test("is asked for once where it goes out", async () => {
    assert.equal(await asked(), 1);
    assert.equal(await asked(UPLOAD, RERUN), 1);
    assert.equal(await asked(OF_NONE), 1);
  });
  test("is asked for again each time that a fragment's run took it along", async () => {
    assert.equal(await asked(OF_FRAGMENT), 2);
    assert.equal(await asked(OF_FRAGMENT, UPLOAD, OF_FRAGMENT, RERUN), 3);
  });
  test("is owed no more once it went out", async () => {
    assert.equal(await asked(RERUN, OF_FRAGMENT), 1);
  });
  test("that nobody owes is not asked for", () => {
    const debt = createDebt(() => assert.fail("asked for"));
    debt.sent(OF_FRAGMENT);
  });
});

describe("the first drawings of charts", () => {
  const later = () => new Promise((done) => setTimeout(done));
  /** Return turns of at most `limit` ms, and the names of drawn charts and of paints in their order. */
  const drawing = (limit) => {
    const order = [];
    const turns = createTurns(() => later().then(() => void order.push("paint")), limit);
    const draw = turns.inTurn((chart) => {
      order.push(chart.name);
      if (chart.name === "wrong") throw new Error("wrong");
      if (chart.name === "stuck") return new Promise(() => {});
      chart._fullLayout = {};
      return chart;
    });
    return { order, turns, draw };
  };
  test("have a paint between them, also after an error", async () => {
    const { order, turns, draw } = drawing();
    assert.equal(turns.areOver(), true);
    const first = { name: "a", isConnected: true };
    const drawn = [first, { name: "wrong", isConnected: true }, { name: "b", isConnected: true }].map((one) =>
      draw(one)
    );
    assert.equal(turns.areOver(), false);
    await assert.rejects(drawn[1]);
    assert.equal(await drawn[0], first);
    await drawn[2];
    assert.deepEqual(order, ["a", "paint", "wrong", "paint", "b"]);
    await later();
    assert.equal(turns.areOver(), true);
  });
  test("go on after a chart that never ends", async () => {
    const { order, turns, draw } = drawing(0);
    draw({ name: "stuck", isConnected: true });
    await draw({ name: "b", isConnected: true });
    assert.deepEqual(order, ["stuck", "paint", "b"]);
    await later();
    assert.equal(turns.areOver(), true);
  });
  test("leave out a chart that left the page, and an update does not wait", async () => {
    const { order, turns, draw } = drawing();
    draw({ name: "a", isConnected: true });
    const gone = draw({ name: "gone", isConnected: false });
    draw({ name: "old", isConnected: true, _fullLayout: {} });
    assert.deepEqual(order, ["old"]);
    assert.equal(await gone, null);
    assert.deepEqual(order, ["old", "a", "paint"]);
    await later();
    assert.equal(turns.areOver(), true);
  });
  test("have turns if Plotly's script runs before, after, or twice", async () => {
    globalThis.requestAnimationFrame = (back) => setTimeout(back);
    for (const [before, after] of [[1, 0], [0, 1], [0, 2], [1, 1]]) {
      const library = { react: (chart) => Object.assign(chart, { _fullLayout: {} }) };
      const run = (times) => Array.from({ length: times }, () => globalThis.Plotly = library);
      delete globalThis.Plotly;
      run(before);
      const areOver = drawChartsInTurn();
      run(after);
      const chart = { isConnected: true };
      const drawn = globalThis.Plotly.react(chart);
      assert.equal(chart._fullLayout, undefined);
      assert.equal(areOver(), false);
      assert.equal(await drawn, chart);
      await later();
      assert.equal(areOver(), true);
    }
    delete globalThis.Plotly;
    delete globalThis.requestAnimationFrame;
  });
});

test("another release of Streamlit is refused by name", () => {
  checkStreamlit(`${EXPECTED}.0`);
  for (const installed of [`${EXPECTED}0.1`, "2.0.0", "undefined"]) {
    assert.throws(
      () => checkStreamlit(installed),
      ({ message }) => [installed, EXPECTED].every((one) => message.includes(one)),
    );
  }
});
