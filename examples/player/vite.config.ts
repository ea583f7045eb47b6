import { defineConfig } from 'vite';

// Resolves the client by tsconfig.json. An app that installs it from npm needs no configuration.
export default defineConfig({ resolve: { tsconfigPaths: true } });
