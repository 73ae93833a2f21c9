import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DATA } from "../shared/cases.mjs";
import { caption } from "./paper.js";
import { fitSelection } from "./selection.js";

describe("links and tables", () => {
  test("captions say model, revision, text, head, scale and where counting begins", () => {
    const text = caption(DATA, fitSelection(DATA, { layer: 1, head: 2 })).join("\n");
    for (const part of ["Head 1-2", "square-root", "counted from 0", "tiny @ 0123456789a…", "the animal"]) {
      assert.ok(text.includes(part), part);
    }
    const local = { ...DATA, model: { ...DATA.model, revision: null, weights: "fedcba9876543210" } };
    assert.ok(caption(local, fitSelection(local, {})).join("\n").includes("tiny @ sha256:fedcba98765…"));
  });
});
