import { createApp } from './app.ts';
import { ConfigError, loadConfig } from './config.ts';
import { createContext } from './context.ts';
import { createHttpServer } from './http-server.ts';

function readConfig() {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`The configuration is not usable:\n${error.message}\n`);
    process.exit(1);
  }
}

const config = readConfig();
const context = createContext(config);
const server = createHttpServer(config, createApp(context));

server.once('error', (error: NodeJS.ErrnoException) => {
  const reason =
    error.code === 'EADDRINUSE' ? `Port ${config.port} is in use. Set PORT to another one.` : error.message;
  process.stderr.write(`${reason}\n`);
  process.exit(1);
});
server.listen(config.port, () => {
  context.log.info({ address: server.address() }, `Listening on port ${config.port}`);
});

function shutDown() {
  server.close(() => {
    void context.close();
  });
  server.closeIdleConnections();
  // Unreferenced: it fires only if a request is still open by then, and never keeps the process alive.
  setTimeout(() => process.exit(1), config.shutdownGraceSeconds * 1000).unref();
}
process.once('SIGTERM', shutDown);
process.once('SIGINT', shutDown);
