// What the modules of the microscope hand each other. Only types: nothing of this file reaches a page.

/**
 * @typedef {object} Cell
 * @property {string} text
 * @property {boolean} special
 * @property {number} segment
 * @property {number|null} word
 * @property {[number, number]} at its pieces among the tokens, end excluded
 * @property {string} [unknown] what the model read in place of the text, such as "[UNK]"
 */
/**
 * @typedef {object} Selection
 * @property {number} layer 0-based
 * @property {number} head 0-based
 * @property {number|null} focus row (query) index
 * @property {number|null} target column (key) index
 *   One of both is asked about: the focus, or facing "in" the target. The other may be null: the word with the
 *   strongest link to it in the chosen head (in any head when that orders the grid)
 * @property {Tab} tab
 * @property {Facing} facing
 * @property {string} order "layer", a measure's name, or "focus"
 * @property {Scale} scale
 * @property {Top} upto
 * @property {Filter} filter
 * @property {By} by what makes a link strong
 * @property {[number, number][]} pinned at most 8 (layer, head)
 */
/** @typedef {keyof typeof import("./contract.js").TABS} Tab */
/** @typedef {keyof typeof import("./contract.js").SCALES} Scale */
/** @typedef {keyof typeof import("./contract.js").FILTERS} Filter */
/** @typedef {keyof typeof import("./contract.js").STRENGTHS} By */
/** @typedef {keyof typeof import("./contract.js").FACINGS} Facing */
/** @typedef {keyof typeof import("./contract.js").TOPS} Top */
/**
 * What an address may say, usual first.
 * @typedef {{tab: Tab[], facing: Facing[], order: string[], scale: Scale[], upto: Top[], filter: Filter[],
 *   by: By[]}} Choices
 */
/**
 * @typedef {object} Measure one number per head; attention/head_measures.py
 * @property {string} name as an address says it
 * @property {string} label
 * @property {string} unit
 * @property {string} order what the grid's menu calls the order by it
 * @property {boolean} descending whether that order starts with the largest
 * @property {number} digits after the point
 * @property {string} clause part of a sentence with {value} in it; may be empty
 * @property {number[][]} values (layer, head)
 */
/**
 * @typedef {object} Payload mirrors viz/components/explore/explore.py payload()
 * @property {1} version
 * @property {"ready"|"loading"|"failed"} state
 * @property {string} message
 * @property {string} base fetch prefix
 * @property {string} view appended to each fetch
 * @property {{name: string, revision: string|null, weights: string|null, kind: string}} model weights: their SHA-256,
 *   where there is no revision
 * @property {string} text
 * @property {string|null} pair
 * @property {string} [truncated] how much of a cut text was read, such as "512 of 3,002 tokens"
 * @property {number} layers
 * @property {number} heads
 * @property {number[]} [attending] the layers that have attention, if not all have some
 * @property {Cell[]} queries
 * @property {Cell[]|null} keys null: the same as queries
 * @property {boolean} causal
 * @property {string} direction name of the part
 * @property {boolean} signed whether its numbers have signs, such as attributions, and are no weights
 * @property {"sink"|"missing"|null} [rest] where the rest of a row goes that sums to less than one
 * @property {boolean} patches whether the tokens are those of a picture
 * @property {Measure[]} measures
 * @property {Choices} choices
 * @property {boolean} sampled
 * @property {boolean} [quiet] whether results are left out: the sentence, shades, the strongest word, the list of links
 * @property {Partial<Selection>} selection
 */
/** @typedef {{address: string, token: string}} Slip where what is kept is told without a run of the page's script */
/** @typedef {Payload & {slip?: Slip|null}} Handed with a slip where nothing else follows a click; ui/show/selection_tokens.py */
/** @typedef {typeof import("./words.js").WORDS} Words */

/**
 * @typedef {object} Grid every head small, and what the words of the text give each key together
 * @property {number} layers
 * @property {number} heads
 * @property {number} rows
 * @property {number} cols
 * @property {Uint8Array|Int8Array} data bytes with signs where its numbers have them: shared/frames.js meaningOf
 * @property {boolean} sampled
 * @property {Float32Array} means (layer, head, key): the mean over the words that count
 * @property {Float32Array} counts (layer, key): how many they are
 * @property {Set<number>|null} summed the rows that were read; null: all
 * @property {import("../shared/frames.js").Habits|null} habits what each head gives a place in other texts
 */
/** @typedef {{layers: number, heads: number, count: number, data: Float32Array}} Rows (layer, head, token) */
/** @typedef {{q0: number, q1: number, k0: number, k1: number}} Range rows q0 to q1 and columns k0 to k1 */
/** @typedef {Range & {rows: number, cols: number, data: Float32Array}} Tile */
/** @typedef {Range & {layer: number, head: number, size: number}} TileQuery */
/** @typedef {{signal?: AbortSignal}} Asking */
/**
 * @typedef {object} Source where numbers come from; each answer is a promise of decoded arrays
 * @property {(size: number, options?: Asking) => Promise<Grid>} grid
 * @property {(query: number, options?: Asking) => Promise<Rows>} rows
 * @property {(key: number, options?: Asking) => Promise<Rows>} columns
 * @property {(query: TileQuery, options?: Asking) => Promise<Tile>} tile
 */
/**
 * @typedef {{grid: number, rows: number, columns: number, tile: TileQuery}} Asked what each kind of question asks with
 */
/** @typedef {{grid: Grid, rows: Rows, columns: Rows, tile: Tile}} Answers */
/** @typedef {{[Kind in keyof Asked]: [Kind, Asked[Kind]]}[keyof Asked]} Question */
/** @typedef {{onLost?: () => void, onFound?: () => void, onGone?: () => void}} SourceHooks */
/** @typedef {(data: Payload, hooks: SourceHooks) => Source} SourceMaker */
/**
 * What the page is told. `selection` resolves to whether it is kept without a run, so that no echo of it comes.
 * @typedef {{selection?: (value: Selection) => Promise<boolean>|void, again?: (count: number) => void}} Report
 */

/** @typedef {{scale: number, q: number, k: number}} Viewport pixels per cell, and the cell at the top left */
/** @typedef {{w: number, h: number}} Size */
/** @typedef {Size & {x: number, y: number}} Area of a canvas */
/** @typedef {{layer: number, head: number}} Head */
/** @typedef {{row: number, col: number}} Place in the matrix */
/** @typedef {ReturnType<typeof import("./grid_layout.js").gridLayout>} GridLayout */
/** @typedef {ReturnType<typeof import("../shared/colours.js").themeOf>} Theme */

/** @typedef {import("../shared/pens.js").Pen} Pen */
/** @typedef {import("../shared/prints.js").PictureFormat} PictureFormat */
/** @typedef {{name: string, width: number, height: number, draw: (pen: Pen) => void}} Print a figure for paper */

/**
 * @typedef {object} State what one view knows of itself; never shared with another on the same page
 * @property {Selection} kept
 * @property {Partial<Selection>|null} preview what the pointer rests on
 * @property {boolean} picking whether the next click on a chip picks the other end of the link
 * @property {boolean} special whether the table of links has special tokens
 * @property {(Viewport & {key: string})|null} view of the matrix
 * @property {{q: number, k: number}|null} scroll of the lines
 * @property {number} page of the grid
 * @property {Record<StripRole, number>} strips where each row of chips starts
 */
/** @typedef {"both"|"query"|"key"} StripRole */
/** @typedef {ReturnType<typeof import("./feed.js").createFeed>} Feed */
/** @typedef {{el: HTMLElement, draw: () => void}} Part */
/** @typedef {Part & {print: () => Print|null}} Figure a part that can be put on paper */
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
 * @property {(end: "focus"|"target") => Cell[]} cellsOf the tokens that stand at this end of links
 * @property {(selection: Selection) => {focus: number|null, target: number|null}} linkOf
 * @property {() => Float32Array|null} linkWeights
 * @property {() => Float32Array|null} linkStrengths what the links are shaded and ordered by
 * @property {(pivot: number, facing: Facing) => import("./truth.js").Strength|null} strengthOf
 * @property {() => {from: string, to: string}|null} linkNames
 * @property {() => number|null} pivot
 * @property {() => Float32Array|null} weights
 * @property {(role: StripRole) => Float32Array|null} shades
 * @property {() => string} sentence
 */
/**
 * @typedef {object} Shared what every part of one view is handed
 * @property {HTMLElement} el
 * @property {import("./store.js").Store<State>} store
 * @property {Words} say
 * @property {Report} report
 * @property {Payload} data
 * @property {Feed} feed
 * @property {Source} source
 * @property {Theme} theme
 * @property {string} stamp which text is shown
 * @property {boolean} waits whether something asked for is held back until the pointer or the view rests
 * @property {ReturnType<typeof import("../shared/elements.js").createTip>} tip
 * @property {Parts} parts
 * @property {() => Cell[]} keys
 * @property {() => Selection} shown what is kept, with what the pointer rests on in its place
 * @property {() => number} width
 * @property {() => boolean} wide
 * @property {() => boolean} coarse
 * @property {(least?: number) => number} room height that the window leaves for the figures
 * @property {(layer: number, head: number) => string} name
 * @property {() => boolean} still whether zooming and scrolling have stopped, so that fetching is worth while
 * @property {(patch: Partial<State>) => void} setLocal
 * @property {(text: string) => void} announce
 * @property {() => void} redraw
 * @property {() => void} flushDraw
 */
/** @typedef {Shared & Choosing & Questions} App */

export {};
