import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// `npm run scalar [-- 1.72.1]` copies the browser bundle of Scalar, by default the newest release, into
// src/openapi/assets. As a dependency, Scalar would add 280 MB to each installation.

/**
 * Moves the languages of apps to the top of the examples. Scalar has no option for their order.
 * @throws an Error if the bundle has another form
 */
function appLanguagesFirst(bundle: string): string {
  const entries = ['swift', 'kotlin', 'dart'].map((key) => {
    const entry = new RegExp(`,(\\{key:\`${key}\`,title:[^{}]+\\})`).exec(bundle);
    if (!entry) throw new Error(`The bundle has no list of languages with ${key} in it: adapt tools/dev/scalar.ts.`);
    return { whole: entry[0], bare: entry[1] };
  });
  const rest = entries.reduce((text, { whole }) => text.replace(whole, ''), bundle);
  return rest.replace('[{key:`c`,', () => `[${entries.map(({ bare }) => bare).join(',')},{key:\`c\`,`);
}

const docs = new URL('../../src/openapi/assets/', import.meta.url);
const folder = await mkdtemp(join(tmpdir(), 'sounds-service-scalar-'));
try {
  const wanted = `@scalar/api-reference@${process.argv[2] ?? 'latest'}`;
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', wanted, '--json', '--pack-destination', folder], { encoding: 'utf8' }),
  );
  const file = 'package/dist/browser/standalone.js';
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', folder, file]);
  const license = await readFile(new URL('scalar-license.txt', docs), 'utf8');
  const notice = `/*!\n${packed.id}, with the languages of apps first among the examples\n\n${license}*/\n`;
  const bundle = appLanguagesFirst(await readFile(join(folder, file), 'utf8'));
  await writeFile(new URL('scalar.js.gz', docs), gzipSync(notice + bundle, { level: 9 }));
  console.log(`src/openapi/assets/scalar.js.gz is the bundle of ${packed.id} now.`);
} finally {
  await rm(folder, { recursive: true });
}
