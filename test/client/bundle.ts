import { build, type Rolldown } from 'vite';

/** The client and what it depends on as one minified module, as the bundler of an app makes it. */
export async function bundleClient(): Promise<string> {
  const { output } = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      rolldownOptions: { input: 'client/src/index.ts', preserveEntrySignatures: 'strict' },
    },
  })) as Rolldown.RolldownOutput;
  return output[0].code;
}
