// Loads everything from the origin of this page: no fonts, no proxy, nothing from Scalar's servers.
const hidden = 'c clojure csharp fsharp go http java julia node objc ocaml php powershell r ruby rust'.split(' ');

Scalar.createApiReference('#reference', {
  url: 'openapi.json',
  servers: [{ url: new URL('.', location.href).href.slice(0, -1) }], // below the path of a proxy, if any
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Leaves one client for each language of apps and scripts, because Scalar has no option for the order of 42 clients.
  hiddenClients: {
    ...Object.fromEntries(hidden.map((language) => [language, true])),
    js: ['axios', 'ofetch', 'jquery', 'xhr'],
    python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
    shell: ['wget', 'httpie'],
  },
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
});
