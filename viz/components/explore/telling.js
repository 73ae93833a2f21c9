// What is kept, told to the server: by a small question of its own where nothing else on the page follows, else by a
// run of the page's script.

/** @import { Selection, Slip } from "./types.js" */

const KEPT = 204;

/**
 * Questions go one after the other, so that the last choice is the last that is told.
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
      return false; // no network, no server: a run is asked for once there is one
    }
  }
  /**
   * Whether it is told without a run; else `run` has been asked for one.
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
