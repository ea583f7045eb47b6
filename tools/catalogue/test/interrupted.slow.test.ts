import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import type { ProxiedRequest } from '../../../test/support/network.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { addFiles, importFolder, importInto, makeFolder, soundsIn, startImport } from './folder.ts';
import { isImportRecord, isPart, isSoundWrite, isUpload, startFaultyProxy } from './proxy.ts';

// The proxy of these tests speaks plain HTTP.
const { embedded } = inject('stack');

const tones = (category: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${category}/${index}.wav`, tone()]));

/** Makes a category and a folder of short recordings for it. */
async function tonesIn(sql: Sql, count: number) {
  const category = await addCategory(sql);
  return { category, folder: await makeFolder(tones(category, count)) };
}

/**
 * Sends a signal to an import at a request of a kind, which never arrives.
 * @param after number of such requests that pass before
 * @returns the output and the proxy, which passes all requests from then on
 */
async function interruptImport(
  folder: string,
  isWanted: (request: ProxiedRequest) => boolean,
  signal: NodeJS.Signals,
  after = 0,
) {
  const reached = Promise.withResolvers<void>();
  let [seen, isOver] = [0, false];
  const proxy = await startFaultyProxy((request) => {
    if (isOver || !isWanted(request) || seen++ < after) return undefined;
    reached.resolve();
    return new Promise(() => {});
  });
  const command = startImport([folder, '--yes'], proxy);
  await reached.promise;
  command.kill(signal);
  const code = await command.exited;
  isOver = true;
  proxy.passed.length = 0;
  return { code, ...command.output, proxy };
}

/** Starts an import whose requests of a kind wait. @returns after the first of them, with the way to let them go on */
async function holdImport(folder: string, isWanted: (request: ProxiedRequest) => boolean) {
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const proxy = await startFaultyProxy((request) => {
    if (!isWanted(request)) return undefined;
    reached.resolve();
    return resumed.promise.then(() => undefined);
  });
  const command = startImport([folder, '--yes'], proxy);
  await reached.promise;
  return { command, resume: resumed.resolve };
}

/** Returns the requests that write. */
const writesIn = (passed: ProxiedRequest[]) =>
  passed.filter((each) => isUpload(each) || isSoundWrite(each) || isImportRecord(each) || isPart(each));

describe.runIf(embedded)('an interrupted import', () => {
  test('Ctrl-C prints how many sounds are left, and the next import makes those in order', async ({
    sql,
  }) => {
    const { category, folder } = await tonesIn(sql, 8);
    const { code, stdout, stderr } = await interruptImport(folder, isUpload, 'SIGINT', 4);
    expect(code).toBe(1);
    const [, made = ''] = /(\d) made, 0 updated, 0 unchanged, 0 left alone, 0 rejected\./.exec(stdout) ?? [];
    expect(stderr).toBe(
      `Interrupted.\n${8 - Number(made)} sounds left to import. Run the import again to continue.\n`,
    );
    expect((await importFolder(folder)).code).toBe(0);
    const sounds = await soundsIn(sql, category);
    expect(sounds.map(({ title }) => title)).toEqual([...'01234567']);
    expect(sounds.filter(({ audio_version }) => audio_version === null)).toEqual([]);
  });

  test('waits for the row that is being written, to count the sounds left correctly', async ({ sql }) => {
    const { category, folder } = await tonesIn(sql, 8);
    const { command, resume } = await holdImport(folder, isSoundWrite);
    command.kill('SIGINT');
    resume();
    expect(await command.exited).toBe(1);
    const { length } = await soundsIn(sql, category);
    expect(length).toBeGreaterThan(0);
    expect(command.output.stdout).toContain(`${length} made, `);
    expect(command.output.stderr).toMatch(
      new RegExp(`^Interrupted\\.\n${8 - length} sounds left to import\\.`),
    );
  });

  test.for([
    ['while it uploads', isUpload, 2],
    ['before it makes the row', isSoundWrite, 1],
    ['before it remembers what it did', isImportRecord, 0],
  ] as const)('an import killed %s is continued by the next one', async ([, isWanted, sound], { sql }) => {
    const { category, folder } = await tonesIn(sql, 1);
    const { code, proxy } = await interruptImport(folder, isWanted, 'SIGKILL');
    expect(code).toBeNull();
    expect((await importInto(proxy, folder)).code).toBe(0);
    // Finished requests are not repeated.
    expect(writesIn(proxy.passed).length - 1).toBe(sound);
    expect(await soundsIn(sql, category)).toMatchObject([{ title: '0', audio_version: expect.any(String) }]);
    await sql`update public.sounds set title = 'Renamed' where category = ${category}`;
    expect((await importFolder(folder)).stdout).toContain('title: changed in the dashboard');
  });

  test('the next import sends only the rest of a large file', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/large.wav`]: tone(300) });
    const { proxy } = await interruptImport(folder, isPart, 'SIGINT', 1);
    expect(await importInto(proxy, folder)).toMatchObject({ code: 0, stderr: '' });
    const offsets = proxy.passed.filter(isPart).map(({ headers }) => headers['upload-offset']);
    expect(offsets).toEqual([String(6 * 1024 * 1024), String(12 * 1024 * 1024)]);
    const [sound] = await soundsIn(sql, category);
    const [object] =
      await sql`select metadata ->> 'size' as size from storage.objects where name = ${sound?.['audio_path']}`;
    expect(object?.['size']).toBe(String(44 + 300 * 24_000 * 2));
  });
});

describe.runIf(embedded)('an unstable network', () => {
  test('requests are retried if they or their responses get lost', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ ...tones(category, 6), [`${category}/large.wav`]: tone(150) });
    const [requests, answers] = [new Set<string>(), new Set<string>()];
    const isFirst = (seen: Set<string>, { method, path, body }: ProxiedRequest) => {
      const { size } = seen;
      return seen.add(`${method} ${path} ${createHash('sha256').update(body).digest('hex')}`).size > size;
    };
    let turn = 0;
    const faults = [503, 'cut', 429, 502] as const;
    const proxy = await startFaultyProxy(
      (request) =>
        writesIn([request]).length > 0 && isFirst(requests, request)
          ? faults[turn++ % faults.length]
          : undefined,
      (request) => (isSoundWrite(request) && isFirst(answers, request) ? 'cut' : undefined),
    );
    const { code, stdout, stderr } = await importInto(proxy, folder);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('7 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.');
    expect(turn).toBeGreaterThan(20);
    expect(answers.size).toBe(7);
    expect(await soundsIn(sql, category)).toHaveLength(7);
  });

  test('an outage ends the import with one sentence', async ({ sql }) => {
    const { category, folder } = await tonesIn(sql, 8);
    let rows = 0;
    const proxy = await startFaultyProxy((request) => {
      if (isSoundWrite(request)) rows++;
      return rows > 3 ? 'cut' : undefined;
    });
    const { code, stderr } = await importInto(proxy, folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Nothing answers at [^\n]+\n\d sounds left to import\. [^\n]+\n$/);
    expect((await importFolder(folder)).code).toBe(0);
    expect(await soundsIn(sql, category)).toHaveLength(8);
  });
});

describe.runIf(embedded)('a running import', () => {
  test('uploads the files of a sound before it writes the row', async ({ sql }) => {
    const { folder } = await tonesIn(sql, 12);
    const early: string[] = [];
    const proxy = await startFaultyProxy(async (request) => {
      if (!isSoundWrite(request)) return undefined;
      const { audio_path } = JSON.parse(request.body.toString()) as { audio_path: string };
      const [object] =
        await sql`select from storage.objects where bucket_id = 'audio' and name = ${audio_path}`;
      if (!object) early.push(audio_path);
      return undefined;
    });
    expect((await importInto(proxy, folder)).code).toBe(0);
    expect(proxy.passed.filter(isSoundWrite)).toHaveLength(12);
    expect(early).toEqual([]);
  });

  test('uploads at most four files at a time', async ({ sql }) => {
    const { folder } = await tonesIn(sql, 12);
    const [four, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    let uploads = 0;
    // The first sound is finished while the other uploads wait, so that a fifth one would have begun.
    const proxy = await startFaultyProxy(async (request) => {
      if (isImportRecord(request)) recorded.resolve(uploads);
      if (!isUpload(request)) return undefined;
      const isFirst = ++uploads === 1;
      if (uploads === 4) four.resolve();
      await (isFirst ? four : recorded).promise;
      return undefined;
    });
    expect((await importInto(proxy, folder)).code).toBe(0);
    expect(await recorded.promise).toBe(4);
  });

  test('rejects files and sounds that change during the import, and goes on', async ({ sql }) => {
    const { category, folder } = await tonesIn(sql, 8);
    await rm(join(folder, category, '7.wav'));
    await importFolder(folder);
    await addFiles(folder, { ...tones(category, 8) });
    const { command, resume } = await holdImport(folder, isUpload);
    await rm(join(folder, category, '5.wav'));
    await addFiles(folder, { [`${category}/6.wav`]: tone(0.7) });
    await sql`update public.sounds set title = 'Renamed' where category = ${category} and title = '0'`;
    resume();
    expect(await command.exited).toBe(1);
    const { stdout } = command.output;
    expect(stdout).toContain('1 made, 4 updated, 0 unchanged, 0 left alone, 3 rejected.');
    expect(stdout).toMatch(/rejected +\S+\/5\.wav +The file does not exist\. Restore/);
    expect(stdout).toMatch(/rejected +\S+\/6\.wav +It was changed during the import\. Run/);
    expect(stdout).toMatch(/rejected +\S+\/0\.wav +It was changed in the dashboard during the import\. Run/);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toContain('Renamed');
  });
});
