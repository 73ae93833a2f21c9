// The service worker of a static site: a site that was opened once opens without a network.
//
// viz/site.py replaces the two constants: the version of the site, and the files that are stored at once, at most a
// megabyte. Other texts are stored when they are opened. Names contain a hash of the content, so a stored file never
// grows old, except the page itself, which is fetched again if there is a network.

const version = "SITE_VERSION";
/** @type {string[]} */
const stored = JSON.parse('["SITE_FILES"]');

/** @typedef {{waitUntil: (work: Promise<unknown>) => void}} Lifetime */
/** @typedef {{request: Request, respondWith: (answer: Promise<Response>) => void}} Fetching */

const scope = new URL("./", globalThis.location.href).href;
/** @type {string} */
const site = `headlight ${scope}`;

/** Store the first files. */
async function storeFirst() {
  const cache = await caches.open(`${site} ${version}`);
  await cache.addAll(stored.map((file) => new URL(file, scope).href));
}

/** Delete the files of earlier versions of this site, and answer the open page, so that its downloads are stored. */
async function deleteEarlier() {
  const names = await caches.keys();
  const earlier = names.filter((name) => name.startsWith(`${site} `) && name !== `${site} ${version}`);
  await Promise.all(earlier.map((name) => caches.delete(name)));
  await globalThis.clients?.claim();
}

/** Return a file from the store, or from the network. @param {Request} request */
async function answer(request) {
  const cache = await caches.open(`${site} ${version}`);
  const page = request.mode === "navigate";
  const known = await cache.match(page ? scope : request, { ignoreSearch: page });
  if (known && !page) return known;
  try {
    const fetched = await fetch(request);
    if (fetched.ok) await cache.put(page ? scope : request, fetched.clone());
    return fetched;
  } catch (error) {
    if (known) return known;
    throw error;
  }
}

globalThis.addEventListener("install", (event) => lifetimeOf(event).waitUntil(storeFirst()));
globalThis.addEventListener("activate", (event) => lifetimeOf(event).waitUntil(deleteEarlier()));
globalThis.addEventListener("fetch", (event) => {
  const fetching = /** @type {Fetching} */ (/** @type {unknown} */ (event));
  const { request } = fetching;
  if (request.method === "GET" && request.url.startsWith(scope)) fetching.respondWith(answer(request));
});

/** @param {unknown} event @returns {Lifetime} */
function lifetimeOf(event) {
  return /** @type {Lifetime} */ (event);
}
