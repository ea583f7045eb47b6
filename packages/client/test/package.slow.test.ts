import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { describe, expect, expectTypeOf } from 'vitest';
import { buildEnvironment } from '../../../test/delivery/image.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import type { ErrorCode, Favorite, Page, Sound, Sounds, SoundsError, User } from '../src/index.ts';
import { bundleClient } from './bundle.ts';

const script = (url: string, account: object) => `
import { createSounds, SoundsError } from 'sounds-client';

const items = new Map<string, string>();
const store = {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => items.set(key, value),
  removeItem: (key: string) => items.delete(key),
};
const api = createSounds({ url: ${JSON.stringify(url)}, store });
await api.auth.signUp(${JSON.stringify(account)});
const { data } = await api.sounds.page({ limit: 1 });
const [sound] = data;
const failure = await api.sounds.get(crypto.randomUUID()).catch((error: unknown) => error);
console.log(JSON.stringify([data.length, failure instanceof SoundsError && failure.status]));
`;

/** What an editor shows of the variables of a program, and which methods of `api` it shows without a word about them. */
function hover(path: string) {
  const program = ts.createProgram([path], { strict: true, module: ts.ModuleKind.NodeNext });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path) as ts.SourceFile;
  const typeOf = (name: string) => {
    const symbol = checker.resolveName(name, source, ts.SymbolFlags.Variable, false) as ts.Symbol;
    return checker.getTypeOfSymbol(symbol);
  };
  const silent = (type: ts.Type): string[] =>
    type.getProperties().flatMap((property) => {
      const part = checker.getTypeOfSymbol(property);
      if (part.getCallSignatures().length === 0) return silent(part);
      return property.getDocumentationComment(checker).length > 0 ? [] : [property.name];
    });
  return {
    shown: ['api', 'sound'].map((name) => checker.typeToString(typeOf(name))),
    silent: silent(typeOf('api')),
  };
}

describe('the package of the client', () => {
  test('the tarball has the files of this version alone, installs into an empty project and runs', async ({
    gateway,
    sql,
    onTestFinished,
  }) => {
    await sql`insert into public.sounds (title) values ('At least one sound')`;
    const folder = await mkdtemp(join(tmpdir(), 'sounds-service-package-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const env = { ...buildEnvironment(), npm_config_prefer_offline: 'true' };
    const run = async (program: string, args: string[], cwd = folder) =>
      (await promisify(execFile)(program, args, { cwd, env })).stdout;

    await mkdir('packages/client/dist', { recursive: true });
    await writeFile('packages/client/dist/removed.js', ''); // as of an earlier version
    const pack = ['pack', '--json', '--pack-destination', folder];
    const packed = await run('npm', pack, resolve('packages/client'));
    const [{ filename, files }] = JSON.parse(packed.slice(packed.indexOf('[')));
    const paths = files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts']),
    );
    expect(paths.filter((path: string) => /(?<!\.d)\.ts$|removed/.test(path))).toEqual([]);

    await writeFile(join(folder, 'package.json'), '{"type": "module", "private": true}');
    await run('npm', ['install', '--no-audit', '--no-fund', `./${filename}`]);
    await writeFile(join(folder, 'app.ts'), script(gateway.url, { email: newEmail(), password }));
    const required = join(folder, 'required.cts');
    await writeFile(
      required,
      "import { createSounds } from 'sounds-client';\nexport const make = createSounds;",
    );
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
    for (const [compiler, module, resolution, ...more] of [
      ['tsc', 'nodenext', 'nodenext'],
      ['tsc', 'esnext', 'bundler'],
      ['tsc6', 'esnext', 'node10', '--ignoreDeprecations', '6.0'],
    ] as const) {
      const kind = ['--module', module, '--moduleResolution', resolution, ...more];
      const sources = resolution === 'nodenext' ? ['app.ts', required] : ['app.ts'];
      await run(resolve('node_modules/.bin', compiler), [...options, ...kind, ...sources]);
    }
    expect(hover(join(folder, 'app.ts'))).toEqual({ shown: ['Sounds', 'Sound'], silent: [] });
    expect(JSON.parse(await run(process.execPath, ['app.ts']))).toEqual([1, 404]);
    const names = "console.log(Object.keys(require('sounds-client')).sort().join())";
    expect((await run(process.execPath, ['--input-type=commonjs', '--eval', names])).trim()).toBe(
      'SoundsError,attachAudio,createSounds,indexedDbStore,memoryStore',
    );
  });

  test('the client adds at most 9.5 kB to an app, and attachAudio alone at most 1 kB', async () => {
    const size = gzipSync(await bundleClient()).length;
    expect(size).toBeGreaterThan(3_000); // that is, both are in it
    expect(size).toBeLessThanOrEqual(9_500);
    const ofAudio = gzipSync(await bundleClient('packages/client/src/attach-audio.ts')).length;
    expect(ofAudio).toBeLessThanOrEqual(1_000);
  });

  test('arguments and results have the types of the document', () => {
    type Argument<F extends (...args: never[]) => unknown> = Parameters<F>[0];
    expectTypeOf<ReturnType<Sounds['sounds']['page']>>().resolves.toEqualTypeOf<Page>();
    expectTypeOf<ReturnType<Sounds['sounds']['list']>>().toEqualTypeOf<AsyncGenerator<Sound, void>>();
    expectTypeOf<ReturnType<Sounds['favorites']['list']>>().toEqualTypeOf<AsyncGenerator<Favorite, void>>();
    expectTypeOf<Sound['frequency_hz']>().toEqualTypeOf<number | null>();
    type Reason<Code extends ErrorCode> = Extract<SoundsError, { code: Code }>['reason'];
    expectTypeOf<Reason<'rate_limited'>>().toEqualTypeOf<
      'limit_requests' | 'limit_attempts' | 'limit_mails' | 'limit_exports' | null
    >();
    expectTypeOf<Reason<'no_answer'>>().toEqualTypeOf<null>();
    expectTypeOf<User>().toEqualTypeOf<{ id: string; email: string | null }>();
    expectTypeOf<{ search: string; featured: boolean; limit: number }>().toExtend<
      NonNullable<Argument<Sounds['sounds']['page']>>
    >();
    expectTypeOf<{ serach: string }>().not.toExtend<NonNullable<Argument<Sounds['sounds']['page']>>>();
    expectTypeOf<{ full_name: null }>().toExtend<Argument<Sounds['customer']['update']>>();
    expectTypeOf<{ email: string }>().not.toExtend<Argument<Sounds['customer']['update']>>();
    expectTypeOf<{ marketing_opt_in: null }>().not.toExtend<Argument<Sounds['customer']['update']>>();
    expectTypeOf<{ type: 'signup'; email: string; code: string }>().not.toExtend<
      Argument<Sounds['auth']['verify']>
    >();
  });
});
