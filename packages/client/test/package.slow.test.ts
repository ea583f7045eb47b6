import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, expectTypeOf, onTestFinished } from 'vitest';
import { buildEnvironment } from '../../../test/delivery/image.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import type { ErrorCode, Favorite, Sounds, SoundsError } from '../src/index.ts';
import { bundleClient } from './page.ts';

const script = (url: string, account: object) => `
import { createSounds, memoryStore, SoundsError } from 'sounds-client';
import { createDownloads } from 'sounds-client/downloads';
import { createLists } from 'sounds-client/lists';

const api = createSounds({ url: ${JSON.stringify(url)}, store: memoryStore() });
await api.auth.signUp(${JSON.stringify(account)});
const { data } = await api.sounds.page({ limit: 1 });
const failure = await api.sounds.get(crypto.randomUUID()).catch((error: unknown) => error);
const files = { write() {}, remove() {}, list: () => [], urlOf: (name: string) => name };
const { size } = createDownloads({ api, files }).states();
await createLists({ api }).sync();
console.log(JSON.stringify([data.length, failure instanceof SoundsError && failure.status, size]));
`;

test('the package contains only files of this version, and can be installed and run', {
  timeout: 180_000, // installs, and starts five compilers
}, async ({ gateway, sql }) => {
  await sql`insert into public.sounds (title) values ('At least one sound')`;
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { ...buildEnvironment(), npm_config_prefer_offline: 'true' };
  const run = async (program: string, args: string[], cwd = folder) =>
    (await promisify(execFile)(program, args, { cwd, env })).stdout;

  await mkdir('packages/client/dist', { recursive: true });
  await writeFile('packages/client/dist/removed.js', ''); // as if from an earlier version
  const pack = ['pack', '--json', '--pack-destination', folder];
  const packed = await run('npm', pack, resolve('packages/client'));
  const [{ filename, files }] = JSON.parse(packed.slice(packed.indexOf('[')));
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  const needed = ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts'];
  expect(paths).toEqual(expect.arrayContaining(needed));
  expect(paths.filter((path) => /(?<!\.d)\.ts$|removed/.test(path))).toEqual([]);

  await writeFile(join(folder, 'package.json'), '{"type": "module", "private": true}');
  await run('npm', ['install', '--no-audit', '--no-fund', `./${filename}`]);
  const { scripts } = JSON.parse(await readFile(join(folder, 'node_modules/sounds-client/package.json'), 'utf8'));
  expect(Object.keys(scripts).filter((name) => /install|^prepare$/.test(name))).toEqual([]); // npm warns of these
  for (const file of paths.filter((path) => /\.(js|map|ts)$/.test(path)))
    expect(await readFile(join(folder, 'node_modules/sounds-client', file), 'latin1'), file).not.toMatch(
      /[\u0080-\u00ff]/,
    );
  const app = join(folder, 'app.ts');
  const required = join(folder, 'required.cts');
  await writeFile(app, script(gateway.url, { email: newEmail(), password }));
  const entries = ['createDownloads', 'createLists'].map((name) => [name, name.slice(6).toLowerCase()]);
  const uses = entries.map(([name, entry]) => `import { ${name} } from 'sounds-client/${entry}';\n${name};`);
  await writeFile(required, uses.join('\n'));
  const compilers = {
    'tsc nodenext nodenext': [app, required],
    'tsc esnext bundler': [app],
    'tsc6 esnext node10': [app, '--ignoreDeprecations', '6.0'],
  };
  for (const [name, args] of Object.entries(compilers)) {
    const [compiler = '', module = '', resolution = ''] = name.split(' ');
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom', ...args];
    const kind = ['--module', module, '--moduleResolution', resolution];
    await run(resolve('node_modules/.bin', compiler), [...options, ...kind]);
  }
  expect(JSON.parse(await run(process.execPath, ['app.ts']))).toEqual([1, 404, 0]);
  const modules = ['', '/downloads', '/lists'].map((entry) => `...require('sounds-client${entry}')`);
  const names = `console.log(Object.keys({ ${modules} }).sort().join())`;
  const exported = await run(process.execPath, ['--input-type=commonjs', '--eval', names]);
  expect(exported.trim()).toBe(
    'SoundsError,attachAudio,createDownloads,createLists,createSounds,gainOf,indexedDbStore,memoryStore',
  );
});

/** Returns a check of a size: at most this many bytes, and more than a tenth, so that no part is missing. */
const atMost = (bytes: number) => (size: number) => size > bytes / 10 && size <= bytes;

test('the client adds at most 10.6 kB to an app, search 3 kB, downloads 3.5 kB and lists 2 kB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-size-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const sizesOf = async (entry?: string) =>
    Object.fromEntries((await bundleClient(entry)).map(({ fileName, code }) => [fileName, gzipSync(code).length]));
  const client = await sizesOf();
  expect(client).toEqual({
    'client.js': expect.toSatisfy(atMost(10_600)),
    'copied-lists.js': expect.toSatisfy(atMost(600)),
    'copy-update.js': expect.toSatisfy(atMost(650)),
    'guests.js': expect.toSatisfy(atMost(1_000)),
    'own-account.js': expect.toSatisfy(atMost(800)),
    'pieces.js': expect.toSatisfy(atMost(500)),
    'remove-history.js': expect.toSatisfy(atMost(450)),
    'search.js': expect.toSatisfy(atMost(3_000)),
    'sign-in.js': expect.toSatisfy(atMost(550)),
  });
  for (const [entry, bytes] of Object.entries({ downloads: 3_500, lists: 2_000 })) {
    const both = join(folder, `${entry}.ts`);
    const exports = ['index', entry].map((name) => `export * from '${resolve(`packages/client/src/${name}.ts`)}';`);
    await writeFile(both, exports.join('\n'));
    const bundled = (await sizesOf(both))['client.js'] ?? 0;
    expect(bundled - (client['client.js'] ?? 0), entry).toSatisfy(atMost(bytes));
  }
  expect(await sizesOf('packages/client/src/attach-audio.ts')).toEqual({
    'client.js': expect.toSatisfy(atMost(1_000)),
  });
});

test('arguments and results have the types of the document', () => {
  type Filters = NonNullable<Parameters<Sounds['sounds']['page']>[0]>;
  type Changes = Parameters<Sounds['customer']['update']>[0];
  type Code = Parameters<Sounds['auth']['verify']>[0];
  type Reason<Code extends ErrorCode> = Extract<SoundsError, { code: Code }>['reason'];
  expectTypeOf<'locked' | 'no_such_sound' | null>().toExtend<Reason<'not_found'>>();
  type Limit = 'limit_requests' | 'limit_attempts' | 'limit_mails' | 'limit_exports';
  expectTypeOf<Reason<'rate_limited'>>().toEqualTypeOf<Limit | null>();
  expectTypeOf<Reason<'no_answer'>>().toEqualTypeOf<null>();
  expectTypeOf<ReturnType<Sounds['favorites']['list']>>().toEqualTypeOf<AsyncGenerator<Favorite, void>>();
  expectTypeOf<{ search: string; featured: boolean; limit: number }>().toExtend<Filters>();
  expectTypeOf<{ serach: string }>().not.toExtend<Filters>();
  expectTypeOf<{ full_name: null }>().toExtend<Changes>();
  expectTypeOf<{ marketing_opt_in: null }>().not.toExtend<Changes>();
  expectTypeOf<{ email: string }>().not.toExtend<Changes>();
  expectTypeOf<{ type: 'signup'; email: string; code: string }>().not.toExtend<Code>();
});
