// Calls this machine without the proxy of NODE_USE_ENV_PROXY. Node and undici read the variable before each call.
const name = process.env['no_proxy'] === undefined ? 'NO_PROXY' : 'no_proxy';
process.env[name] = [process.env[name], 'localhost', '127.0.0.1', '::1'].filter(Boolean).join(',');
