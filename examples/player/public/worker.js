// Keeps the files of the page, so that it opens without a network. Sounds and covers are left to the browser.

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const isFile = origin === location.origin && !pathname.startsWith('/api/');
  if (isFile && event.request.method === 'GET') event.respondWith(load(event.request));
});

/** Loads a file from the network, otherwise from the cache. */
async function load(request) {
  const cache = await caches.open('page');
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}
