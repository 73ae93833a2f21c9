// A picture from the clipboard goes to the server, which opens it as it opens a file.

import { inBase64 } from "./picture_source.js";

const LARGEST_PASTED = 30e6; // bytes of a pasted file, as of any that is brought

/**
 * Listens until what it gives back is called.
 * @param {() => boolean} welcome whether there is a server to take it @param {(pasted: string) => void} take
 */
export function onPicturePasted(welcome, take) {
  /** @param {ClipboardEvent} event */
  async function pastes(event) {
    const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith("image/"));
    if (!file || !welcome() || file.size > LARGEST_PASTED) return;
    event.preventDefault();
    take(inBase64(new Uint8Array(await file.arrayBuffer())));
  }
  document.addEventListener("paste", pastes);
  return () => document.removeEventListener("paste", pastes);
}
