// Types that the modules of the main view share. This file has no code.

/**
 * @typedef {object} Cell
 * @property {string} text
 * @property {boolean} special
 * @property {number} segment
 * @property {number|null} word
 * @property {[number, number]} at indices of its tokens, end exclusive
 * @property {string} [unknown] the token that replaces an unknown text, such as "[UNK]"
 */
/**
 * @typedef {object} SelectedPlace
 * @property {number} layer 0-based
 * @property {number} head 0-based
 * @property {number|null} focus row (query) index
 * @property {number|null} target column (key) index
 * The question is about the focus, or about the target if `facing` is "in". The other end may be null, which means the
 * strongest link in the chosen head (or in any head if that orders the grid).
 * @property {[number, number][]} pinned at most 8 (layer, head)
 */
/** @typedef {SelectedPlace & Options} Selection */
/** @typedef {typeof import("./contract.js").DEFAULTS} Options the view options; viz/components/explore/options.py */
/** @typedef {Options["facing"]} Facing */
/** @typedef {Options["filter"]} Filter */
/** @typedef {Options["scale"]} Scale */
/**
 * The words of the view options, and their valid choices for this text, default first.
 * @typedef {{[Name in keyof Options]: {label: string, help: string, choices: {value: Options[Name], text: string}[]}}}
 *   DeclaredOptions
 */
/**
 * @typedef {object} Measure a number for each head; attention/measures.py
 * @property {string} name name in addresses
 * @property {string} label
 * @property {string} unit
 * @property {boolean} descending whether that order starts with the largest value
 * @property {number} digits decimal places
 * @property {string} clause part of a sentence with {value}; may be empty
 * @property {number[][]} values (layer, head); null for layers without attention
 */
/**
 * @typedef {object} Payload mirrors payload() of viz/components/explore/content.py
 * @property {1} version
 * @property {"ready"|"loading"|"failed"} state
 * @property {string} message
 * @property {string} base prefix of requests
 * @property {string} view query string of each request
 * @property {{name: string, revision: string|null, weights: string|null, kind: string}} model weights: their SHA-256 if
 * there is no revision
 * @property {string} text
 * @property {string|null} pair
 * @property {string} [truncated] the length of a truncated text, such as "512 of 3,002 tokens"
 * @property {number} layers
 * @property {number} heads
 * @property {number[]} [attending] the layers that have attention, if some have none
 * @property {Cell[]} queries
 * @property {Cell[]|null} keys null if they equal the queries
 * @property {boolean} causal
 * @property {string} direction name of the stack
 * @property {boolean} signed true for signed values such as attributions, which are not weights
 * @property {"sink"|"missing"|null} [rest] the reason why rows sum to less than one
 * @property {boolean} patches true if the tokens are those of a picture
 * @property {Measure[]} measures
 * @property {DeclaredOptions} options
 * @property {boolean} sampled
 * @property {boolean} [quiet] true if results are hidden: the sentence, shades, the strongest word, the list of links
 * @property {boolean} [asks_head] true if a lesson asks for a head, so the strongest head is not offered
 * @property {Partial<Selection>} selection
 */
/** @typedef {{address: string, token: string}} Slip address for a selection without a rerun of the page's script */
/**
 * @typedef {Payload & {slip?: Slip|null}} Handed with a slip if nothing else depends on a click;
 * ui/show/microscope.py
 */
/** @typedef {typeof import("./words.js").WORDS} Words */

/**
 * @typedef {object} Grid all thumbnails, and the column means
 * @property {number} layers
 * @property {number} heads
 * @property {number} rows
 * @property {number} cols
 * @property {Uint8Array|Int8Array} data signed bytes for signed values: shared/frames.js meaningOf
 * @property {boolean} sampled
 * @property {Float32Array} means (layer, head, key): the mean over the counted words
 * @property {Float32Array} counts (layer, key): the number of counted words
 * @property {Set<number>|null} summed the counted rows; null for all
 * @property {import("../shared/frames.js").Habits|null} habits the positional prior of each head
 */
/** @typedef {{layers: number, heads: number, count: number, data: Float32Array}} Rows (layer, head, token) */
/** @typedef {{q0: number, q1: number, k0: number, k1: number}} Range rows q0 to q1 and columns k0 to k1 */
/** @typedef {Range & {rows: number, cols: number, data: Float32Array}} Tile */
/** @typedef {Range & {layer: number, head: number, size: number}} TileQuery */
/** @typedef {{signal?: AbortSignal}} Asking */
/**
 * @typedef {object} Source source of arrays; each answer is a promise of decoded arrays
 * @property {(size: number, options?: Asking) => Promise<Grid>} grid
 * @property {(query: number, options?: Asking) => Promise<Rows>} rows
 * @property {(key: number, options?: Asking) => Promise<Rows>} columns
 * @property {(query: TileQuery, options?: Asking) => Promise<Tile>} tile
 */
/** @typedef {{grid: number, rows: number, columns: number, tile: TileQuery}} Asked argument of each kind of request */
/** @typedef {{grid: Grid, rows: Rows, columns: Rows, tile: Tile}} Answers */
/** @typedef {{[Kind in keyof Asked]: [Kind, Asked[Kind]]}[keyof Asked]} Question */
/** @typedef {{onLost?: () => void, onFound?: () => void, onGone?: () => void}} SourceHooks */
/** @typedef {(data: Payload, hooks: SourceHooks) => Source} SourceMaker */
/**
 * Callbacks of the view. `selection` resolves to true if the selection was stored without a rerun, so no echo follows.
 * @typedef {{selection?: (value: Selection) => Promise<boolean>|void, again?: (count: number) => void}} Report
 */

/** @typedef {{scale: number, q: number, k: number}} Viewport pixels per cell, and the cell at the upper left corner */
/** @typedef {{w: number, h: number}} Size */
/** @typedef {Size & {x: number, y: number}} Area of a canvas */
/** @typedef {{layer: number, head: number}} Head */
/** @typedef {{row: number, col: number}} Place in the matrix */
/** @typedef {ReturnType<typeof import("./grid_layout.js").gridLayout>} GridLayout */
/** @typedef {ReturnType<typeof import("../shared/colours.js").themeOf>} Theme */

/** @typedef {import("../shared/pens.js").Pen} Pen */
/** @typedef {import("../shared/prints.js").PictureFormat} PictureFormat */
/** @typedef {{name: string, width: number, height: number, draw: (pen: Pen) => void}} Print a figure for export */

/**
 * @typedef {object} State state of a view, never shared with another view on the page
 * @property {Selection} kept
 * @property {Partial<Selection>|null} preview selection under the pointer
 * @property {boolean} picking whether the next click on a chip picks the other end of the link
 * @property {boolean} special whether the table of links has special tokens
 * @property {(Viewport & {key: string})|null} view view of the matrix
 * @property {{q: number, k: number}|null} scroll scroll position of the lines
 * @property {number} page page of the grid
 * @property {Record<StripRole, number>} strips start of each row of chips
 */
/** @typedef {"both"|"query"|"key"} StripRole */
/** @typedef {ReturnType<typeof import("./feed.js").createFeed>} Feed */
/** @typedef {{el: HTMLElement, draw: () => void}} Part */
/** @typedef {Part & {print: () => Print|null}} Figure a part that can be exported */
/** @typedef {{grid: Figure, main: HTMLElement, draw: () => void}} Parts */
/**
 * @typedef {object} Choosing choosing.js
 * @property {(patch: Partial<Selection>, wait?: boolean) => void} keep
 * @property {(patch: Partial<Selection>|null) => void} preview
 * @property {() => boolean} previewsHead
 * @property {() => boolean} rested
 * @property {() => void} flush
 * @property {() => void} escape
 * @property {(sign: number) => void} stepHead
 * @property {() => void} pin
 * @property {() => void} pictured
 * @property {(selection: Partial<Selection>) => void} begin
 * @property {(selection: Partial<Selection>) => void} hear
 * @property {() => void} endChoosing
 */
/**
 * @typedef {object} Questions questions.js
 * @property {() => number} scaleTop
 * @property {(end: "focus"|"target") => Cell[]} cellsOf the tokens at this end of links
 * @property {(selection: Selection) => {focus: number|null, target: number|null}} linkOf
 * @property {() => Float32Array|null} linkWeights
 * @property {() => Float32Array|null} linkStrengths values that shade and order the links
 * @property {(pivot: number, facing: Facing) => import("./truth.js").Strength|null} strengthOf
 * @property {() => {from: string, to: string}|null} linkNames
 * @property {() => number|null} pivot
 * @property {() => Float32Array|null} weights
 * @property {(role: StripRole) => Float32Array|null} shades
 * @property {() => string} sentence
 * @property {() => ReturnType<typeof import("./truth.js").strongestHead>} strongestHead with the strongest link between
 * the words of the sentence
 * @property {() => string} doubt the baselines of the sentence's link
 */
/**
 * @typedef {object} Shared the object that every part of a view receives
 * @property {HTMLElement} el
 * @property {import("./store.js").Store<State>} store
 * @property {Words} say
 * @property {Report} report
 * @property {Payload} data
 * @property {Feed} feed
 * @property {Source} source
 * @property {Theme} theme
 * @property {string} stamp identifies the visible text
 * @property {boolean} waits whether a request is delayed until the pointer or the view rests
 * @property {ReturnType<typeof import("../shared/elements.js").createTip>} tip
 * @property {Parts} parts
 * @property {() => Cell[]} keys
 * @property {() => Selection} shown the kept selection, overridden by the preview
 * @property {() => number} width
 * @property {() => boolean} wide
 * @property {() => boolean} coarse
 * @property {(least?: number) => number} room height in the window for the figures
 * @property {(layer: number, head: number) => string} name
 * @property {() => boolean} still whether zooming and scrolling have stopped, so that requests may start
 * @property {(patch: Partial<State>) => void} setLocal
 * @property {(text: string) => void} announce
 * @property {() => void} redraw
 * @property {() => void} flushDraw
 */
/** @typedef {Shared & Choosing & Questions} App */

export {};
