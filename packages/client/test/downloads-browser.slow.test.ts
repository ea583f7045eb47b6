/** @module-tag browser */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { test } from './page.ts';
import { client, writeRecipes } from './recipes.ts';

test('the recipe for Cache Storage continues, plays and removes files in a browser', async ({ open, gateway, sql }) => {
  const folder = writeRecipes();
  writeFileSync(
    join(folder, 'app.ts'),
    `export * from '${client}'; export * from '${client.replace('index', 'downloads')}'; export * from './files-in-cache.ts';`,
  );
  const page = await open(join(folder, 'app.ts'));
  const begin = `import('/client.js').then((module) => {
    Object.assign(globalThis, module);
    globalThis.api = createSounds({ url: '${gateway.url}', store: localStorage });
  })`;
  const create = 'globalThis.downloads = createDownloads({ api, files: filesInCache })';
  await page.evaluate(begin);
  await page.evaluate(`api.auth.signUp({ email: '${newEmail()}', password: '${password}' })`);
  const [id, other] = (await addSounds(sql, [{}, {}])) as [string, string];
  const recording = tone(60);
  for (const each of [id, other]) {
    const path = await storeFile('audio', `downloads/${each}.wav`, 'audio/wav', recording);
    await sql`update public.sounds set audio_path = ${path} where id = ${each}`;
  }
  const ranges: (string | undefined)[] = [];
  const isAudio = (address: URL) => address.pathname.includes('/object/sign/audio/');
  page.on('request', (request) => {
    if (isAudio(new URL(request.url()))) ranges.push(request.headers()['range']);
  });
  await page.route(isAudio, (route) => (ranges.length < 2 ? route.continue() : new Promise(() => {})));
  await page.evaluate(`${create}, void downloads.add('${id}')`);
  await expect.poll(() => ranges).toHaveLength(2);
  await page.unrouteAll();
  await page.reload();
  await page.evaluate(begin);
  ranges.length = 0;
  await page.evaluate(`${create}, downloads.resume()`);
  const total = recording.length;
  expect(ranges[0]).toBe('bytes=1000000-1999999');
  expect(await page.evaluate(`downloads.states().get('${id}')`)).toEqual({ status: 'ready', bytes: total });

  await page.evaluate(`downloads.add('${other}').then(() => downloads.resume())`);
  await page.context().setOffline(true);
  await page.evaluate(`downloads.audioOf('${id}').then((audio) => {
    globalThis.element = Object.assign(new Audio(), { muted: true });
    attachAudio(element, audio);
    return element.play();
  })`);
  const typeOf = "fetch(element.src).then((response) => response.headers.get('Content-Type'))";
  expect(await page.evaluate(typeOf)).toBe('audio/wav');
  await page.evaluate('void (element.currentTime = 50)');
  await expect.poll(() => page.evaluate('element.currentTime')).toBeGreaterThan(50);
  const listed = () => page.evaluate('filesInCache.list()');
  expect(await listed()).toEqual([id, other].map((each) => ({ name: expect.stringContaining(each), bytes: total })));
  await page.evaluate(`downloads.remove('${id}')`);
  expect(await listed()).toEqual([{ name: expect.stringMatching(`^${other}.*\\.wav$`), bytes: total }]);
});
