import assert from "node:assert/strict";
import { test } from "node:test";

import { imageAddress } from "./image_form.js";

test("an image's address keeps the query and adds the options", () => {
  const options = { format: "svg", width: "page", size: "9", frame: false, caption: true };
  assert.equal(
    imageAddress("/a/export.image?seal=x", options),
    "/a/export.image?seal=x&format=svg&width=page&size=9&frame=0&caption=1",
  );
});
