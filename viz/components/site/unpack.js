// Content of the files of a static site.

/** Return the content of a gzip file; other content is returned as it is. @param {ArrayBuffer} buffer */
export async function unpack(buffer) {
  const [first, second] = new Uint8Array(buffer);
  if (first !== 0x1f || second !== 0x8b) return buffer;
  return await new Response(new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
