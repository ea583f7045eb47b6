import { defineConfig } from 'vite';

// tsconfig.json names the folder of the client. An app takes it from npm, and needs nothing here.
export default defineConfig({ resolve: { tsconfigPaths: true } });
