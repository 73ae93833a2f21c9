// The view options, their values and their defaults. `make contract` writes this file from options.py.

/**
 * The defaults, which a view has before any text arrives.
 * @type {{
 *   tab: "matrix"|"lines",
 *   facing: "out"|"in",
 *   order: string,
 *   filter: "all"|"aa"|"ab"|"ba"|"bb",
 *   scale: "sqrt"|"linear",
 *   upto: "fit"|"one",
 *   by: "excess"|"weight",
 * }}
 */
export const DEFAULTS = {
  tab: "matrix",
  facing: "out",
  order: "layer",
  filter: "all",
  scale: "sqrt",
  upto: "fit",
  by: "excess",
};
