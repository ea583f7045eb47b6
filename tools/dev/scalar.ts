import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// `npm run scalar [-- 1.72.1]` compresses the browser bundle of Scalar as released, by default the newest one, into
// src/openapi/assets. As a dependency, Scalar would add 280 MB to each installation.

const assets = new URL('../../src/openapi/assets/', import.meta.url);
const folder = await mkdtemp(join(tmpdir(), 'sounds-service-scalar-'));
try {
  const wanted = `@scalar/api-reference@${process.argv[2] ?? 'latest'}`;
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', wanted, '--json', '--pack-destination', folder], { encoding: 'utf8' }),
  );
  const file = 'package/dist/browser/standalone.js';
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', folder, file]);
  await writeFile(new URL('scalar.js.gz', assets), gzipSync(await readFile(join(folder, file)), { level: 9 }));
  const license = new URL('scalar-license.txt', assets);
  await writeFile(license, (await readFile(license, 'utf8')).replace(/.*/, packed.id));
  console.log(`src/openapi/assets/scalar.js.gz is the bundle of ${packed.id} now.`);
} finally {
  await rm(folder, { recursive: true });
}
