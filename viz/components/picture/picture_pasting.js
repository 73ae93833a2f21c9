// Sends an image from the clipboard to the server, which opens it like an uploaded file.

import { inBase64 } from "./picture_source.js";

const LARGEST_PASTED = 30e6; // bytes of a pasted file at most, equal to the limit of uploads

/**
 * Listen for pasted images until the returned function is called.
 * @param {() => boolean} welcome whether there is a server to receive it @param {(pasted: string) => void} take
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
