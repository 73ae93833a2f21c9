import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DATA, frame } from "../shared/cases.mjs";
import { httpSource } from "./source.js";

describe("where numbers come from", () => {
  const tile = () => frame({ exact: true }, [["tile", "float16", [1, 2], new Uint16Array([0x3c00, 0])]]);

  const answer = (status, body) => ({
    ok: status === 200,
    status,
    arrayBuffer: async () => body,
    text: async () => body,
  });

  const query = { layer: 0, head: 1, q0: 0, q1: 1, k0: 0, k1: 2, size: 512 };

  test("the address is the contract's", async () => {
    const asked = [];
    const source = httpSource(DATA, {
      fetch: async (address) => {
        asked.push(address);
        return answer(200, tile());
      },
    });
    const found = await source.tile(query);
    assert.equal(
      asked[0],
      "/headlight/trace/abc/tile?part=encoder&words=0&layer=0&head=1&q0=0&q1=1&k0=0&k1=2&size=512",
    );
    assert.deepEqual([...found.data], [1, 0]);
    await assert.rejects(source.grid(48), /lacks the array “grid”/);
    assert.equal(asked[1], "/headlight/trace/abc/grid?part=encoder&words=0&size=48");
  });

  test("a lost connection is told and tried again", async () => {
    const told = [];
    let calls = 0;
    const fetch = async () => {
      if (calls++ < 2) throw new TypeError("Failed to fetch");
      return answer(200, tile());
    };
    const source = httpSource(DATA, {
      fetch,
      wait: async () => {},
      onLost: () => told.push("lost"),
      onFound: () => told.push("found"),
    });
    await source.tile(query);
    assert.deepEqual(told, ["lost", "lost", "found"]);
  });

  test("410 asks for the trace again; other refusals are told in the server's words", async () => {
    let gone = 0;
    const source = (status, body) =>
      httpSource(DATA, { fetch: async () => answer(status, body), onGone: () => gone++ });
    await assert.rejects(source(410, "No longer in memory.").rows(1), /No longer in memory/);
    assert.equal(gone, 1);
    await assert.rejects(source(400, '{"message": "“layer” is 9."}').rows(1), /“layer” is 9/);
    await assert.rejects(source(500, "<html>").rows(1), /answered 500/);
  });

  test("an aborted request is not retried", async () => {
    const controller = new AbortController();
    const source = httpSource(DATA, {
      fetch: async () => {
        controller.abort();
        throw new DOMException("aborted", "AbortError");
      },
      onLost: () => assert.fail(),
    });
    await assert.rejects(source.rows(1, { signal: controller.signal }), { name: "AbortError" });
  });
});
