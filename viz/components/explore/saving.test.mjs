import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DATA } from "../shared/cases.mjs";
import { DEFAULTS } from "./contract.js";
import { exportAddress } from "./saving.js";
import { fitSelection } from "./selection.js";

describe("links and tables", () => {
  test("addresses of downloads carry the view and the selection", () => {
    const selection = fitSelection(DATA, { layer: 1, head: 2, focus: 3, pinned: [[0, 1], [1, 0]] });
    const address = exportAddress(DATA, selection, "csv");
    assert.equal(
      address,
      "/headlight/trace/abc/export.csv?part=encoder&words=0" +
        `&layer=1&head=2&focus=3&${new URLSearchParams(DEFAULTS)}&pinned=0.1-1.0`,
    );
  });
});
