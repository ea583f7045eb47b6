import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { addSound } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import { serveClient } from './serve-client.ts';

const client = resolve('packages/client/src/index.ts');

/** Writes the recipe of the README into a folder for one test: each block of code that begins with its file name. */
function recipeFolder(): string {
  const folder = mkdtempSync(resolve('packages/client/test/recipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const readme = readFileSync('packages/client/README.md', 'utf8');
  for (const [, name = '', code = ''] of readme.matchAll(/```ts\n\/\/ (\S+\.ts)\n(.*?)```/gs))
    writeFileSync(join(folder, name), code.replace("'sounds-client'", `'${client}'`));
  return folder;
}

test('the download recipe of the README compiles for browsers and for Expo', async () => {
  const folder = recipeFolder();
  copyFileSync('packages/client/test/expo-file-system.d.ts', join(folder, 'declarations.d.ts'));
  const config = {
    extends: resolve('packages/client/tsconfig.json'),
    compilerOptions: { lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'] },
    include: ['.'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await promisify(execFile)('node_modules/.bin/tsc', ['--project', folder]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
});

test('a download goes on where it was interrupted, and never mixes two recordings', async ({ skip, sql }) => {
  skip(!canRunBrowser, 'Install chromium to run the recipe in a browser.');
  const folder = recipeFolder();
  writeFileSync(
    join(folder, 'app.ts'),
    `export { createSounds } from '${client}';\nexport * from './download.ts';\nexport * from './cache-storage.ts';\n`,
  );
  const { origin, gateway } = await serveClient(join(folder, 'app.ts'));
  const id = await addSound(sql);
  const recordings = ['a', 'b', 'c'].map((letter) => letter.repeat(2_500_000));
  const record = async (n: number) => {
    const path = await storeFile('audio', `recipe/${id}-${n}.m4a`, 'audio/mp4', recordings[n] ?? '');
    await sql`update public.sounds set audio_path = ${path} where id = ${id}`;
  };
  await record(0);
  await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
    await page.evaluate(`import('/client.js').then(async (module) => {
      Object.assign(globalThis, module);
      globalThis.api = createSounds({ url: '${gateway.url}', store: localStorage });
      await api.auth.signUp({ email: '${newEmail()}', password: '${password}' });
    })`);
    const ranges: (string | undefined)[] = [];
    const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');
    page.on(
      'request',
      (request) => isAudio(new URL(request.url())) && ranges.push(request.headers()['range']),
    );
    const download = () =>
      page.evaluate(`(async () => {
        const shares = [];
        await downloadAll(api, ['${id}'], openInCache, (id, share) => shares.push(share));
        return shares.at(-1);
      })().catch(({ message }) => message)`);
    const downloaded = () =>
      page.evaluate(`(async () => {
        for await (const { audio } of api.sounds.files(['${id}'])) {
          const address = await downloadedAudio('${id}', audio.version);
          return address && (await (await fetch(address)).text());
        }
      })()`);
    /** Lets the next response end after some bytes. */
    const interrupt = (recording = '') =>
      page.route(
        isAudio,
        async (route) => {
          const body = recording.slice(0, 1_200_000);
          const headers = { 'Access-Control-Allow-Origin': '*' };
          await route.fulfill({ contentType: 'audio/mp4', headers, body });
        },
        { times: 1 },
      );

    await interrupt(recordings[0]);
    expect(await download()).toBe('The download was interrupted. Start it again.');
    expect(await downloaded()).toBeNull();
    expect(await download()).toBe(1);
    expect(ranges).toEqual([undefined, 'bytes=1200000-']);
    expect(await downloaded()).toBe(recordings[0]);
    expect(await download()).toBe(1);
    expect(ranges).toHaveLength(2);

    await record(1);
    await interrupt(recordings[1]);
    await download();
    await page.route(isAudio, (route) => record(2).then(() => route.continue()), { times: 1 });
    expect(await download()).toBe('The recording has changed. Start the download again.');
    await download();
    expect(await downloaded()).toBe(recordings[2]);
    expect(
      await page.evaluate("caches.open('sounds').then((cache) => cache.keys()).then((all) => all.length)"),
    ).toBe(1);
  });
});
