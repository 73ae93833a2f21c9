// The names of view options in addresses, and their labels.
//
// viz/components/explore/content.py defines the names and their order in menus, and sends them with the payload; a test
// fails if a name is missing on either side.

/** The figures, each with its name in WORDS. @type {{matrix: "matrix", lines: "lines"}} */
export const TABS = { matrix: "matrix", lines: "lines" };

/**
 * Colour scales: the labels of the menu and the legend, and the share of the ramp for a share of the largest weight.
 */
export const SCALES = {
  /** @type {{label: "scaleSqrt", legend: "sqrtScale"}} */
  sqrt: { label: "scaleSqrt", legend: "sqrtScale" },
  /** @type {{label: "scaleLinear", legend: "linearScale"}} */
  linear: { label: "scaleLinear", legend: "linearScale" },
};

/** Ends of the colour scale, with the labels of the menu. */
export const TOPS = {
  fit: { label: /** @type {const} */ ("topFit") },
  one: { label: /** @type {const} */ ("topOne") },
};

/** Directions of a question about a word: the switch's label, and the label and help of the button for the target. */
export const FACINGS = {
  /** @type {{label: "looksAt", pick: "pickTarget", hint: "pickTargetHint"}} */
  out: { label: "looksAt", pick: "pickTarget", hint: "pickTargetHint" },
  /** @type {{label: "lookedAt", pick: "pickLooker", hint: "pickLookerHint"}} */
  in: { label: "lookedAt", pick: "pickLooker", hint: "pickLookerHint" },
};

/** Orders of the table of links, with the labels of the menu. */
export const STRENGTHS = {
  excess: { label: /** @type {const} */ ("byExcess") },
  weight: { label: /** @type {const} */ ("byWeight") },
};

/** Filters of segment pairs: the menu's label, and the segments of the queries and the keys. */
export const FILTERS = {
  all: { label: /** @type {const} */ ("filterAll"), segments: null },
  aa: { label: /** @type {const} */ ("filterAA"), segments: [0, 0] },
  ab: { label: /** @type {const} */ ("filterAB"), segments: [0, 1] },
  ba: { label: /** @type {const} */ ("filterBA"), segments: [1, 0] },
  bb: { label: /** @type {const} */ ("filterBB"), segments: [1, 1] },
};

/** Orders of the grid; the orders by a measure come with the payload. */
export const ORDERS = {
  /** @type {"orderLayer"} */
  layer: "orderLayer",
  /** @type {"orderFocusBare"} */
  focus: "orderFocusBare",
};
