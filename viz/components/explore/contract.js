// What an address may say by name, and what each name means here.
//
// Which names there are, and in which order menus show them, is said once, in viz/components/explore/content.py, and
// comes with the payload; a test fails when one side knows a name that the other does not.

/** The figures, each with its name in WORDS. @type {{matrix: "matrix", lines: "lines"}} */
export const TABS = { matrix: "matrix", lines: "lines" };

/** How weights become shades: what the menu and the legend call it, and the share of the ramp at a share of the top. */
export const SCALES = {
  /** @type {{label: "scaleSqrt", legend: "sqrtScale"}} */
  sqrt: { label: "scaleSqrt", legend: "sqrtScale" },
  /** @type {{label: "scaleLinear", legend: "linearScale"}} */
  linear: { label: "scaleLinear", legend: "linearScale" },
};

/** Where the shades end: what the menu calls it. */
export const TOPS = {
  fit: { label: /** @type {const} */ ("topFit") },
  one: { label: /** @type {const} */ ("topOne") },
};

/** Which way a word is asked about: what the switch calls it, and what picks the link's other end, with its help. */
export const FACINGS = {
  /** @type {{label: "looksAt", pick: "pickTarget", hint: "pickTargetHint"}} */
  out: { label: "looksAt", pick: "pickTarget", hint: "pickTargetHint" },
  /** @type {{label: "lookedAt", pick: "pickLooker", hint: "pickLookerHint"}} */
  in: { label: "lookedAt", pick: "pickLooker", hint: "pickLookerHint" },
};

/** What makes a link strong: what the table's menu calls it. */
export const STRENGTHS = {
  excess: { label: /** @type {const} */ ("byExcess") },
  weight: { label: /** @type {const} */ ("byWeight") },
};

/** Which pairs of segments are shown: what the menu calls it, and the segments that look and are looked at. */
export const FILTERS = {
  all: { label: /** @type {const} */ ("filterAll"), segments: null },
  aa: { label: /** @type {const} */ ("filterAA"), segments: [0, 0] },
  ab: { label: /** @type {const} */ ("filterAB"), segments: [0, 1] },
  ba: { label: /** @type {const} */ ("filterBA"), segments: [1, 0] },
  bb: { label: /** @type {const} */ ("filterBB"), segments: [1, 1] },
};

/** The orders of the grid beside those by a measure, which come with the payload. */
export const ORDERS = {
  /** @type {"orderLayer"} */
  layer: "orderLayer",
  /** @type {"orderFocusBare"} */
  focus: "orderFocusBare",
};
