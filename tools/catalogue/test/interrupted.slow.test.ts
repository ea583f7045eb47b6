import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { largeTone, tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import type { ProxiedRequest } from '../../../test/support/network.ts';
import { freePort } from '../../../test/support/ports.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { picture } from './files.ts';
import {
  addFiles,
  hideFfmpeg,
  importFolder,
  importInto,
  makeFolder,
  soundsIn,
  startImport,
  type Target,
  titlesOf,
} from './folder.ts';
import { isImportRecord, isPart, isSoundWrite, isUpload, startFaultyProxy } from './proxy.ts';

hideFfmpeg();

const tones = (category: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${category}/${index}.wav`, tone()]));

/** Makes a category and a folder of recordings for it. */
async function tonesIn(sql: Sql, count: number) {
  const category = await addCategory(sql);
  return { category, folder: await makeFolder(tones(category, count)) };
}

const [twoParts, threeParts] = [7_000_000, 14_000_000];

/**
 * Starts an import and holds the requests that `isHeld` selects. Resolves when the first one is held.
 * @param start starts the import into the proxy that holds requests
 * @returns the import, its proxy, and a function that cuts the held requests and lets later ones pass
 */
async function holdImport<T>(start: (target: Target) => T, isHeld: (request: ProxiedRequest) => boolean) {
  const [reached, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<'cut'>()];
  let isOver = false;
  const proxy = await startFaultyProxy((request) => {
    if (isOver || !isHeld(request)) return undefined;
    reached.resolve();
    return ended.promise;
  });
  const command = start(proxy);
  await reached.promise;
  const end = () => {
    isOver = true;
    proxy.passed.length = 0;
    ended.resolve('cut');
  };
  return { command, proxy, end };
}

/** Starts the command, which a signal can end. */
const asProcess = (folder: string) => (target: Target) => startImport([folder, '--yes'], target);

const isWrite = (request: ProxiedRequest) =>
  [isUpload, isPart, isSoundWrite, isImportRecord].some((isKind) => isKind(request));

// The proxy supports only plain HTTP.
const proxied = test.runIf(inject('stack').embedded);

proxied('Ctrl-C lets an import finish its current row and print how many sounds are left', async ({ sql }) => {
  const { category, folder } = await tonesIn(sql, 8);
  await addFiles(folder, { [`${category}/3.wav`]: largeTone(twoParts) });
  let [uploads, rows] = [0, 0];
  const { command, end } = await holdImport(asProcess(folder), (request) => {
    if (isUpload(request)) return ++uploads > 1;
    return isPart(request) || (isSoundWrite(request) && ++rows > 0);
  });
  await expect.poll(() => rows).toBe(1);
  command.kill('SIGINT');
  end();
  expect(await command.exited).toBe(1);
  expect(command.output.stdout).toContain('1 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.');
  const message = 'Interrupted.\n7 sounds left to import. Run the import again to continue.\n';
  expect(command.output.stderr).toBe(message);
  expect((await importFolder(folder)).stdout).toContain('7 new, 0 to update, 1 unchanged');
  const sounds = await soundsIn(sql, category);
  expect(titlesOf(sounds)).toEqual([...'01234567']);
  expect(sounds.filter(({ audio_version }) => audio_version === null)).toEqual([]);
});

const isSecondPart = (request: ProxiedRequest) => isPart(request) && request.headers['upload-offset'] !== '0';
proxied.for([
  ['in the second part of a large file', isSecondPart, 0, 3, largeTone(threeParts)],
  ['before it writes the row', isSoundWrite, 0, 1, tone()],
  ['before it stores its record', isImportRecord, 1, 0, tone()],
] as const)(
  'the next import continues one that is killed %s',
  async ([, isHeld, rows, repeated, recording], { sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/0.wav`]: recording });
    const { command, proxy, end } = await holdImport(asProcess(folder), isHeld);
    command.kill('SIGKILL');
    expect(await command.exited).toBeNull();
    expect(await soundsIn(sql, category)).toHaveLength(rows);
    end();
    expect((await importInto(proxy, folder)).code).toBe(0);
    // Finished requests and parts are not repeated.
    expect(proxy.passed.filter(isWrite).length - 1).toBe(repeated);
    expect(await soundsIn(sql, category)).toMatchObject([{ audio_bytes: String(recording.length) }]);
    await sql`update public.sounds set title = 'Renamed' where category = ${category}`;
    expect((await importFolder(folder)).stdout).toContain('title: changed in the dashboard');
  },
);

proxied('an import repeats a request if the request or its response is lost', async ({ sql }) => {
  const category = await addCategory(sql);
  const files = { [`${category}/large.wav`]: largeTone(twoParts), [`${category}/cover.jpg`]: await picture() };
  const folder = await makeFolder({ ...tones(category, 6), ...files });
  const [requests, answers] = [new Set<string>(), new Set<string>()];
  const isFirst = (seen: Set<string>, { method, path, body }: ProxiedRequest) => {
    const { size } = seen;
    return seen.add(`${method} ${path} ${hash('sha256', body)}`).size > size;
  };
  let turn = 0;
  const faults = [503, 'cut', 429, 502] as const;
  const proxy = await startFaultyProxy(
    (request) => (isWrite(request) && isFirst(requests, request) ? faults[turn++ % 4] : undefined),
    (request) => (isSoundWrite(request) && isFirst(answers, request) ? 'cut' : undefined),
  );
  expect(await importInto(proxy, folder)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('7 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.'),
  });
  expect(turn).toBeGreaterThan(20);
  expect(answers.size).toBe(7);
  expect(proxy.passed.filter(({ path }) => path.endsWith('.jpg'))).toHaveLength(1);
  expect(await soundsIn(sql, category)).toHaveLength(7);
});

proxied('an import prints the address of large uploads if it does not answer', async () => {
  const elsewhere = `http://127.0.0.1:${await freePort()}`;
  const redirect = { status: 201, headers: { location: `${elsewhere}/upload/1` } };
  const proxy = await startFaultyProxy(({ path }) =>
    path.startsWith('/storage/v1/upload/resumable') ? redirect : undefined,
  );
  expect(await importInto(proxy, await makeFolder({ 'large.wav': largeTone(twoParts) }))).toMatchObject({
    code: 1,
    stderr: `${elsewhere} no longer answers. Check the network, then run the import again.
1 sound left to import. Run the import again to continue.
`,
  });
});

proxied('an import uploads four files at once and rejects files that change meanwhile', async ({ sql }) => {
  const { category, folder } = await tonesIn(sql, 7);
  await importFolder(folder);
  await addFiles(folder, tones(category, 8));
  let uploads = 0;
  const start = (target: Target) => importInto(target, folder);
  const { command, end } = await holdImport(start, (request) => isUpload(request) && ++uploads > 0);
  await expect.poll(() => uploads).toBe(4);
  await rm(join(folder, category, '5.wav'));
  await addFiles(folder, { [`${category}/6.wav`]: tone(0.7) });
  await sql`update public.sounds set title = 'Renamed' where category = ${category} and title = '0'`;
  expect(uploads).toBe(4);
  end();
  const { code, stdout } = await command;
  expect(code).toBe(1);
  for (const line of [
    /1 made, 4 updated, 0 unchanged, 0 left alone, 3 rejected\./,
    /rejected +\S+\/5\.wav +The file does not exist\. Restore/,
    /rejected +\S+\/6\.wav +It was changed during the import\. Run/,
    /rejected +\S+\/0\.wav +It was changed in the dashboard during the import\. Run/,
  ])
    expect(stdout).toMatch(line);
  expect(titlesOf(await soundsIn(sql, category))).toContain('Renamed');
});
