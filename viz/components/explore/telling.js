// Sends the kept selection to the server: by a small request if nothing else on the page depends on it, else by a rerun
// of the page's script.

/** @import { Selection, Slip } from "./types.js" */

const KEPT = 204;

/**
 * Create a function that sends selections in sequence, so that the last selection arrives last.
 * @param {typeof fetch} [ask]
 */
export function createTeller(ask = (...asked) => globalThis.fetch(...asked)) {
  /** @type {Promise<unknown>} */
  let before = Promise.resolve();
  /** @param {Slip} slip @param {Selection} selection */
  async function keep({ address, token }, selection) {
    const body = JSON.stringify({ slip: token, selection });
    const headers = { "Content-Type": "application/json" };
    try {
      return (await ask(address, { method: "POST", headers, body, keepalive: true })).status === KEPT;
    } catch {
      return false; // no network or no server, so a rerun is requested
    }
  }
  /**
   * Resolve to true if the selection was stored without a rerun; else `run` has requested a rerun.
   * @param {Slip|null|undefined} slip @param {Selection} selection @param {(selection: Selection) => void} run
   * @returns {Promise<boolean>}
   */
  return (slip, selection, run) => {
    const told = before.then(async () => {
      const kept = slip ? await keep(slip, selection) : false;
      if (!kept) run(selection);
      return kept;
    });
    before = told;
    return told;
  };
}
