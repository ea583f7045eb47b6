// Keeps the files of the page, so that it opens without a network. Sounds and covers are left to the browser.

addEventListener('install', (event) => {
  skipWaiting();
  // Otherwise the last request of a page that goes away could end with it.
  event.addRoutes?.({ condition: { urlPattern: new URLPattern({ pathname: '/api/*' }) }, source: 'network' });
});
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const isFile = origin === location.origin && !pathname.startsWith('/api/');
  if (isFile && event.request.method === 'GET') event.respondWith(load(event.request, pathname));
});

/** Loads a file from the network, otherwise from the cache. */
async function load(request, pathname) {
  const cache = await caches.open('page');
  // The page is the same with every query, such as that of an icon on the home screen.
  const key = request.mode === 'navigate' ? pathname : request;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(key, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(key, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}
