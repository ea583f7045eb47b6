import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { test } from './page.ts';

const client = resolve('packages/client/src/index.ts');

/** Writes the recipe of the README into a folder for one test: each block of code that begins with a file name. */
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

test('a download continues after an interruption, and never mixes two recordings', async ({ open, gateway, sql }) => {
  const module = join(recipeFolder(), 'app.ts');
  const parts = [client, './download.ts', './cache-storage.ts'];
  writeFileSync(module, parts.map((part) => `export * from '${part}';\n`).join(''));
  const page = await open(module);
  await page.evaluate(`import('/client.js').then(async (module) => {
    Object.assign(globalThis, module);
    globalThis.api = createSounds({ url: '${gateway.url}', store: localStorage });
    await api.auth.signUp({ email: '${newEmail()}', password: '${password}' });
  })`);
  const id = await addSound(sql);
  const recordings = ['a', 'b', 'c'].map((letter) => letter.repeat(2_500_000)) as [string, string, string];
  const record = async (recording: string) => {
    const path = await storeFile('audio', `recipe/${id}-${recording[0]}.m4a`, 'audio/mp4', recording);
    await sql`update public.sounds set audio_path = ${path} where id = ${id}`;
  };
  const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');
  const ranges: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (isAudio(new URL(request.url()))) ranges.push(request.headers()['range']);
  });
  /** Ends the next response after some bytes. */
  const interrupt = (recording: string) => {
    const headers = { 'Access-Control-Allow-Origin': '*' };
    const part = { contentType: 'audio/mp4', headers, body: recording.slice(0, 1_200_000) };
    return page.route(isAudio, (route) => route.fulfill(part), { times: 1 });
  };
  /** Downloads the sound. @returns the share that has been downloaded, or the error message */
  const download = () =>
    page.evaluate(`(async () => {
      const shares = [];
      await downloadAll(api, ['${id}'], openInCache, (id, share) => shares.push(share));
      return shares.at(-1);
    })().catch(({ message }) => message)`);
  const downloaded = () =>
    page.evaluate(`(async () => {
      const { value } = await api.sounds.files(['${id}']).next();
      const address = await downloadedAudio('${id}', value.audio.version);
      return address && (await (await fetch(address)).text());
    })()`);

  const [first, second, third] = recordings;
  await record(first);
  await interrupt(first);
  expect(await download()).toBe('The download was interrupted. Start it again.');
  expect(await downloaded()).toBeNull();
  expect(await download()).toBe(1);
  expect(await downloaded()).toBe(first);
  expect(await download()).toBe(1);
  expect(ranges).toEqual([undefined, 'bytes=1200000-']);

  await record(second);
  await interrupt(second);
  await download();
  await page.route(isAudio, (route) => record(third).then(() => route.continue()), { times: 1 });
  expect(await download()).toBe('The recording has changed. Start the download again.');
  await download();
  expect(await downloaded()).toBe(third);
  const kept = "caches.open('sounds').then((cache) => cache.keys()).then(({ length }) => length)";
  expect(await page.evaluate(kept)).toBe(1);
});
