import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiAt } from '../support/api.ts';
import { environment } from '../support/server-process.ts';
import { signUp } from '../support/test.ts';
import { buildImage, type Image, runIn } from './image.ts';

let folder: string;
let image: Image;
/** Files of the image that all users may write to. */
let writable: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sounds-service-image-'));
  // Let the user of the image enter the folder.
  await chmod(folder, 0o711);
  image = buildImage(folder);
  writable = execFileSync('find', [image.root, '-perm', '-002', '!', '-type', 'l'], { encoding: 'utf8' });
  execFileSync('chmod', ['-R', 'a-w,a+rX', image.root]);
});

afterAll(async () => {
  execFileSync('chmod', ['-R', 'u+w', image.root]);
  await rm(folder, { recursive: true });
});

test('the image contains the gateway with its dependencies, and does not run Node as root', () => {
  const app = join(image.root, image.workdir);
  const files = ['.cache', 'docs', 'examples', 'node_modules', 'package.json', 'src', 'supabase'];
  expect(readdirSync(app).toSorted()).toEqual(files);
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const packages = lock.packages as Record<string, { dev?: true }>;
  const forDevelopment = Object.keys(packages).filter((path) => packages[path]?.dev);
  expect(forDevelopment.length).toBeGreaterThan(100);
  const ofTheClient = ['node_modules/sounds-client', 'node_modules/openapi-fetch'];
  expect(Object.keys(packages)).toEqual(expect.arrayContaining(ofTheClient));
  expect([...forDevelopment, ...ofTheClient].filter((path) => existsSync(join(app, path)))).toEqual([]);
  expect(writable).toBe('');

  expect(image.user).toBe('node');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const words = scripts.start.split(' ').filter((word) => !/^(--env-file.*|--import|.*end-with-npm.*)$/.test(word));
  expect(words).toEqual(image.command);
  expect(Object.keys(image.env).filter((name) => !name.startsWith('NODE_'))).toEqual([]);
});

test('the image contains a compile cache, so that no start compiles TypeScript', async () => {
  // Write to a file, because Node drops debug output if a pipe is full.
  await using report = await open(join(folder, 'report'), 'w');
  const child = runIn(image, image.command, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }, report.fd);
  await once(child, 'exit');
  const told = readFileSync(join(folder, 'report'), 'utf8');
  for (const file of ['server.ts', 'routes/sounds.ts'])
    expect(told).toMatch(new RegExp(`StrippedTypeScript \\S+/src/${file} because cache was the same`));
});

test('the image starts from read-only files, serves a new user, and stops on SIGTERM', async () => {
  const child = runIn(image, image.command, { ...environment(), HOME: '/nonexistent' });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => {
      output += text;
    });
  await expect.poll(() => output).toContain('Listening');
  const line = output.split('\n').find((text) => text.includes('Listening')) ?? '';
  const PORT = String(JSON.parse(line).address.port);
  const health = async () => (await once(runIn(image, image.healthcheck, { PORT }), 'exit'))[0];
  expect(await health()).toBe(0);

  const url = `http://127.0.0.1:${PORT}/api/v1`;
  for (const path of ['', '/guide', '/app-in-swift.md', '/llms.txt', '/start.js', '/scalar.js'])
    expect((await fetch(`${url}/docs${path}`)).status, path).toBe(200);
  await signUp(apiAt(url));
  const doctor = runIn(image, ['node', 'src/doctor/main.ts'], environment());
  expect(await once(doctor, 'exit')).toEqual([0, null]);

  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(await health()).toBe(1);
});
