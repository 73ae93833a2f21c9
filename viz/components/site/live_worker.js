// The model of a static site, in a worker so that the page stays responsive. The worker receives all files from the
// page, whose content security policy covers their download, and only computes.

/** @typedef {{data: ArrayLike<number>, dims: readonly number[]}} Result */
/** @typedef {{run: (feeds: Record<string, object>) => Promise<Record<string, Result>>}} Session */
/**
 * The part of onnxruntime-web that is used.
 * @typedef {object} Runtime
 * @property {{wasm: {wasmBinary: ArrayBuffer, numThreads: number}}} env
 * @property {{create: (graph: Uint8Array, options: object) => Promise<Session>}} InferenceSession
 * @property {new (type: string, data: Float32Array|BigInt64Array, dims: number[]) => object} Tensor
 */
/** @typedef {{type: "float32"|"int64", data: Float32Array|BigInt64Array, dims: number[]}} Feed */
/** @typedef {{id: number, open: {runtime: string, wasm: ArrayBuffer, graph: ArrayBuffer}}} Opening */
/** @typedef {{id: number, run: Record<string, Feed>}} Running */

/** @type {Runtime|null} */
let runtime = null;
/** @type {Session|null} */
let session = null;

/** Open the model. @param {Opening["open"]} files */
async function openModel({ runtime: script, wasm, graph }) {
  runtime = /** @type {Runtime} */ (await import(script));
  runtime.env.wasm.wasmBinary = wasm;
  runtime.env.wasm.numThreads = 1; // several need headers that plain servers do not send
  session = await runtime.InferenceSession.create(new Uint8Array(graph), { executionProviders: ["wasm"] });
  return {};
}

/** Return the outputs of a pass by their names. @param {Running["run"]} feeds */
async function runModel(feeds) {
  const { Tensor } = /** @type {Runtime} */ (runtime);
  const tensors = Object.entries(feeds).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)]);
  const found = await /** @type {Session} */ (session).run(Object.fromEntries(tensors));
  return Object.fromEntries(
    Object.entries(found).map(([name, { data, dims }]) => [name, { shape: [...dims], data: Float32Array.from(data) }]),
  );
}

if (globalThis.WorkerGlobalScope) {
  globalThis.addEventListener("message", async (event) => {
    const asked = /** @type {MessageEvent<Opening|Running>} */ (event).data;
    try {
      const result = "open" in asked ? await openModel(asked.open) : await runModel(asked.run);
      globalThis.postMessage({ id: asked.id, result });
    } catch (error) {
      globalThis.postMessage({ id: asked.id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}
