// Layout of a tree from left to right: a column for each depth, rows packed.
//
// A parent is in the row of its child with the longest subtree (the first if equal), so that a chain is a straight
// line. Earlier children are above that row and later children below it, each as near as possible without overlap; a
// branch that ends early leaves its rows to other branches.

export const BOX_HIGH = 24; // px
const PITCH = 31; // px from row to row
const GAP = { chain: 9, branch: 30 }; // px between columns, without and with a branching between them
const EDGE = 4; // px around the tree

/**
 * @typedef {object} TreeNode
 * @property {string} id
 * @property {number} parent index of the parent, smaller than the node's own; -1 for the root
 * @property {string} text
 * @property {"kept"|"ended"|"dropped"|"other"} kind
 * @property {number} [value]
 * @property {string} [note]
 */
/** @typedef {{depth: number, row: number, x: number, y: number, w: number}} Spot  x, y: upper left corner */

/** Return each node's children. @param {number[]} parents @returns {number[][]} */
export function childrenOf(parents) {
  const children = parents.map(() => /** @type {number[]} */ ([]));
  parents.forEach((parent, i) => {
    if (parent >= 0) children[parent].push(i);
  });
  return children;
}

/** Return the number of steps from the root to each node. @param {number[]} parents */
export function depthsOf(parents) {
  const depths = /** @type {number[]} */ ([]);
  for (const parent of parents) depths.push(parent < 0 ? 0 : depths[parent] + 1);
  return depths;
}

/** Return the height of each node's subtree. @param {number[]} parents */
function heightsOf(parents) {
  const heights = parents.map(() => 0);
  for (let i = parents.length - 1; i > 0; i--) heights[parents[i]] = Math.max(heights[parents[i]], heights[i] + 1);
  return heights;
}

/**
 * Return the row of each node, from 0.
 * @param {number[]} parents
 *
 * A subtree is described by its first and last row in each column, from its root on.
 */
export function rowsOf(parents) {
  const [children, heights] = [childrenOf(parents), heightsOf(parents)];
  const below = parents.map(() => 0); // rows below the parent
  /** @type {{top: number[], bottom: number[]}[]} */
  const outlines = [];
  for (let i = parents.length - 1; i >= 0; i--) {
    const main = children[i].reduce((best, child) => (best < 0 || heights[child] > heights[best] ? child : best), -1);
    const whole = main < 0 ? { top: [], bottom: [] } : outlines[main];
    for (const child of children[i].filter((other) => other < main).reverse()) {
      below[child] = -settle(whole.bottom, whole.top, outlines[child].bottom, outlines[child].top, -1);
    }
    for (const child of children[i].filter((other) => other > main)) {
      below[child] = settle(whole.top, whole.bottom, outlines[child].top, outlines[child].bottom, 1);
    }
    for (const child of children[i]) delete outlines[child];
    outlines[i] = { top: [0, ...whole.top], bottom: [0, ...whole.bottom] };
  }
  const rows = /** @type {number[]} */ ([]);
  parents.forEach((parent, i) => rows.push(parent < 0 ? 0 : rows[parent] + below[i]));
  const first = rows.reduce((least, row) => Math.min(least, row), 0);
  return rows.map((row) => row - first);
}

/**
 * Place a subtree next to the rows in use, which grow by it; return its distance in rows. `way` is 1 downwards and -1
 * upwards; `near` edges face each other, `far` edges face away.
 */
function settle(wholeNear, wholeFar, near, far, way) {
  const shared = Math.min(wholeFar.length, near.length);
  let away = 0;
  for (let d = 0; d < shared; d++) away = Math.max(away, way * (wholeFar[d] - near[d]) + 1);
  for (let d = 0; d < near.length; d++) {
    wholeFar[d] = far[d] + way * away;
    if (d >= shared) wholeNear[d] = near[d] + way * away;
  }
  return away;
}

/**
 * Return the position of every node. @param {TreeNode[]} nodes @param {(node: TreeNode) => number} widthOf of a node's
 * box, px
 * @returns {{spots: Spot[], rows: number, width: number, height: number}}
 */
export function arrangeTree(nodes, widthOf) {
  const parents = nodes.map((node) => node.parent);
  const [depths, rows, children] = [depthsOf(parents), rowsOf(parents), childrenOf(parents)];
  const columns = depths.reduce((most, depth) => Math.max(most, depth), 0) + 1;
  const wide = new Array(columns).fill(0);
  const branching = new Array(columns).fill(false);
  const widths = nodes.map(widthOf);
  nodes.forEach((_, i) => {
    wide[depths[i]] = Math.max(wide[depths[i]], widths[i]);
    if (children[i].length > 1) branching[depths[i] + 1] = true;
  });
  const left = [EDGE];
  for (let d = 1; d < columns; d++) left[d] = left[d - 1] + wide[d - 1] + (branching[d] ? GAP.branch : GAP.chain);
  const spots = nodes.map((_, i) => ({
    depth: depths[i],
    row: rows[i],
    x: left[depths[i]],
    y: EDGE + rows[i] * PITCH,
    w: widths[i],
  }));
  const tall = rows.reduce((most, row) => Math.max(most, row), 0) + 1;
  return {
    spots,
    rows: tall,
    width: left[columns - 1] + wide[columns - 1] + EDGE,
    height: 2 * EDGE + (tall - 1) * PITCH + BOX_HIGH,
  };
}

/** Return the line from a parent's box to a child's, as SVG path data. @param {Spot} from @param {Spot} to */
export function lineBetween(from, to) {
  const middle = (spot) => spot.y + BOX_HIGH / 2;
  const start = `M${from.x + from.w} ${middle(from)}`;
  if (from.row === to.row) return `${start}H${to.x}`;
  const [turn, down] = [to.x - GAP.branch / 2, 5 * Math.sign(to.row - from.row)];
  return `${start}H${turn - 5}q5 0 5 ${down}V${middle(to) - down}q0 ${down} 5 ${down}H${to.x}`;
}

/**
 * Return the path from the root to a node, both included; empty without a node.
 * @param {number[]} parents @param {number} at
 */
export function wayTo(parents, at) {
  const way = new Set();
  for (; at >= 0; at = parents[at]) way.add(at);
  return way;
}

/**
 * Return the node that a key leads to, or null: left to the parent, right to the child on the path (else the first
 * child), up and down in the column, Home to the root, End to the end of the path and then of the first children.
 * @param {string} key @param {number} at @param {number[]} parents @param {Spot[]} spots @param {Set<number>} way
 */
export function treeKey(key, at, parents, spots, way) {
  const children = childrenOf(parents);
  const onward = (i) => children[i].find((child) => way.has(child)) ?? children[i][0] ?? i;
  if (key === "Home") return 0;
  if (key === "ArrowLeft") return Math.max(parents[at], 0);
  if (key === "ArrowRight") return onward(at);
  if (key === "End") {
    let end = at;
    while (children[end].length) end = onward(end);
    return end;
  }
  const step = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!step) return null;
  const column = spots.flatMap(({ depth }, i) => (depth === spots[at].depth ? [i] : [])).sort((a, b) =>
    spots[a].row - spots[b].row
  );
  return column[column.indexOf(at) + step] ?? at;
}
