import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { frame } from "../shared/cases.mjs";
import { kernelSource } from "./notebook.js";

/** A model like anywidget's, with the test as its kernel. */
function fakeModel() {
  const heard = [];
  return {
    sent: [],
    heard,
    on: (_event, listener) => heard.push(listener),
    off: (_event, listener) => heard.splice(heard.indexOf(listener), 1),
    send(content) {
      this.sent.push(content);
    },
    answer: (content, ...buffers) => heard.forEach((listener) => listener(content, buffers)),
  };
}
const HALVES = ["rows", "float16", [1, 1, 2], new Uint16Array([0x3c00, 0])];
/** A buffer as Jupyter passes it: a view into a larger message. */
function within(buffer) {
  const message = new Uint8Array(buffer.byteLength + 24);
  message.set(new Uint8Array(buffer), 16);
  return new DataView(message.buffer, 16, buffer.byteLength);
}

describe("the kernel as a source", () => {
  test("a question goes out by name and number, and its answer is decoded", async () => {
    const model = fakeModel();
    const asked = kernelSource(model).rows(3);
    const [{ id, ...question }] = model.sent;
    assert.deepEqual(question, { what: "rows", asked: { query: 3 } });
    model.answer({ id: "another" }, within(frame({}, [])));
    model.answer({ id }, within(frame({}, [HALVES])));
    assert.deepEqual([...(await asked).data], [1, 0]);
  });

  test("answers find their questions in any order, and two views of one model do not mix them up", async () => {
    const model = fakeModel();
    const [one, other] = [kernelSource(model), kernelSource(model)];
    const asked = [one.columns(0), one.columns(1), other.columns(0)];
    const ids = model.sent.map(({ id }) => id);
    assert.equal(new Set(ids).size, 3);
    for (const at of [2, 1, 0]) {
      const numbers = new Uint16Array([0x3c00 + 1024 * at, 0]);
      model.answer({ id: ids[at] }, frame({}, [["columns", "float16", [1, 1, 2], numbers]]));
    }
    assert.deepEqual((await Promise.all(asked)).map(({ data }) => data[0]), [1, 2, 4]);
  });

  test("a refusal is told in the kernel's words, a silent kernel in ours; what is dropped is left", async () => {
    const model = fakeModel();
    const source = kernelSource(model, 1);
    const refused = source.rows(9);
    model.answer({ id: model.sent[0].id, refused: "“query” is '9'." });
    await assert.rejects(refused, /“query” is '9'/);
    await assert.rejects(source.rows(0), /The kernel does not answer/);
    const dropped = new AbortController();
    const asked = source.rows(1, { signal: dropped.signal });
    dropped.abort();
    await assert.rejects(asked, { name: "AbortError" });
    source.close();
    assert.equal(model.heard.length, 0);
  });
});
