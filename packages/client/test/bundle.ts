import { build, type Rolldown } from 'vite';

/** A module of the client and what it depends on, minified, as the bundler of an app makes it. */
export async function bundleClient(input = 'packages/client/src/index.ts'): Promise<string> {
  const { output } = (await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, rolldownOptions: { input, preserveEntrySignatures: 'strict' } },
  })) as Rolldown.RolldownOutput;
  return output[0].code;
}
