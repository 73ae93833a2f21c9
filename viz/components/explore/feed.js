// A cache of answers for the parts, which request arrays while they draw.

/** @import { Answers, Asked, Asking, Question, Source } from "./types.js" */

/**
 * @template {keyof Asked} Kind
 * @typedef {(query: Asked[Kind], options: Asking) => Promise<Answers[Kind]>} Ask
 */

/**
 * Return a feed: an answer is available immediately if it is cached, else null, and a redraw follows its arrival.
 * Requests that the last drawing did not repeat are aborted; the least recently used answers are evicted first.
 * @param {Source} source @param {{onArrive: () => void, onError: (error: Error) => void, budget?: number}} hooks
 */
export function createFeed(source, { onArrive, onError, budget = 64 * 2 ** 20 }) {
  /** @type {Map<string, {value: Answers[keyof Answers], bytes: number}>} */
  const answers = new Map();
  /** @type {Map<string, AbortController>} */
  const flying = new Map();
  /** @type {Set<string>} */
  const failed = new Set();
  /** @type {Set<string>} */
  const wanted = new Set();
  let held = 0;
  /** @template {keyof Asked} Kind @param {Kind} kind @param {Asked[Kind]} query */
  const keyOf = (kind, query) => `${kind} ${JSON.stringify(query)}`;
  /** @param {string} key @param {Answers[keyof Answers]} value */
  function store(key, value) {
    answers.set(key, { value, bytes: value.data.byteLength });
    held += value.data.byteLength;
    for (const [old, { bytes }] of answers) {
      if (held <= budget || old === key) break;
      if (wanted.has(old)) continue;
      answers.delete(old);
      held -= bytes;
    }
  }
  /** @template {keyof Asked} Kind @param {Kind} kind @param {Asked[Kind]} query */
  function start(kind, query) {
    const key = keyOf(kind, query);
    const controller = new AbortController();
    flying.set(key, controller);
    const ask = /** @type {Ask<Kind>} */ (/** @type {unknown} */ (source[kind]));
    ask(query, { signal: controller.signal }).then(
      (value) => {
        if (flying.get(key) === controller) {
          flying.delete(key);
          store(key, value);
          onArrive();
        }
      },
      (error) => {
        if (flying.get(key) !== controller) return;
        flying.delete(key);
        if (controller.signal.aborted) return;
        failed.add(key);
        onError(error);
      },
    );
  }
  const feed = {
    begin: () => wanted.clear(),
    /** Return true if all answers are cached. @param {Question[]} questions */
    has: (questions) => questions.every(([kind, query]) => answers.has(keyOf(kind, query))),
    /** Request all of them. @param {Question[]} questions */
    fetch(questions) {
      for (const [kind, query] of questions) feed.get(kind, query);
    },
    /**
     * Return the answer if it is cached, without a request.
     * @template {keyof Asked} Kind @param {Kind} kind @param {Asked[Kind]} query @returns {Answers[Kind]|null}
     */
    peek(kind, query) {
      const key = keyOf(kind, query);
      const found = answers.get(key);
      if (!found) return null;
      answers.delete(key);
      answers.set(key, found);
      return /** @type {Answers[Kind]} */ (found.value);
    },
    /** @template {keyof Asked} Kind @param {Kind} kind @param {Asked[Kind]} query @returns {Answers[Kind]|null} */
    get(kind, query) {
      const key = keyOf(kind, query);
      wanted.add(key);
      const value = feed.peek(kind, query);
      if (!value && !flying.has(key) && !failed.has(key)) start(kind, query);
      return value;
    },
    /**
     * Prefetch a likely next answer if no request is in flight.
     * @template {keyof Asked} Kind @param {Kind} kind @param {Asked[Kind]} query
     */
    warm(kind, query) {
      if (flying.size === 0 && !answers.has(keyOf(kind, query)) && !failed.has(keyOf(kind, query))) start(kind, query);
    },
    /** End a drawing: abort requests that it did not make. Return true if all its answers were cached. */
    end() {
      const missing = [...wanted].filter((key) => !answers.has(key));
      for (const [key, controller] of missing.length ? flying : []) {
        if (wanted.has(key)) continue;
        flying.delete(key);
        controller.abort();
      }
      return missing.length === 0;
    },
    retry() {
      failed.clear();
      onArrive();
    },
    close() {
      for (const controller of flying.values()) controller.abort();
      flying.clear();
    },
  };
  return feed;
}
