import { execFile, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { expect } from 'vitest';
import { endpoints } from '../../../src/app.ts';
import { bearer } from '../../../test/support/api.ts';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { startNetwork } from '../../../test/support/network.ts';
import { test as base, password, signUp } from '../../../test/support/test.ts';
import { type Document, everyCall } from './every-call.ts';

// Generates clients by the commands of the guide, then compiles and uses them with no other settings.

const installed = resolve('examples/clients/.venv/bin');
const python = join(installed, 'python');
const lacking = [
  !existsSync(python) &&
    'python3 -m venv examples/clients/.venv && examples/clients/.venv/bin/pip install -r examples/clients/requirements.txt',
  spawnSync('java', ['-version']).error && 'install Java, 17 or newer',
  spawnSync('mvn', ['--version']).error && 'install Maven',
  spawnSync('go', ['version']).error && 'install Go',
].filter((remedy) => typeof remedy === 'string');
const remedies = `To generate clients: ${lacking.join('; ')}`;
if (lacking.length > 0 && process.env['CI']) throw new Error(remedies);

// Disables the optimizing compiler and the parallel collector, because the Java programs run only for seconds.
const JDK_JAVA_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Runs a program and returns its output. @throws Error with the output if the program fails */
async function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}) {
  const options = { cwd, env: { ...process.env, JDK_JAVA_OPTIONS, ...env }, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(program, args, options).catch(({ message, stdout }) => {
    throw new Error(`${message}\n${stdout}`);
  });
  return stdout;
}

const guide = await readFile('docs/apps.md', 'utf8');

/** Generates a client into a folder, with the arguments from the guide. */
async function generate(work: string, folder: string, ...more: string[]) {
  const commands = guide.replaceAll(/ \\\n\s*/g, ' ').match(/(?<=generator-cli@[\d.]+ )generate .*/g) ?? [];
  const command = commands.find((text) => text.includes(` -o ${folder} `));
  if (command === undefined) throw new Error(`The guide generates nothing into ${folder}.`);
  await run(work, join(installed, 'openapi-generator-cli'), [...command.split(' '), ...more]);
}

/** Downloads both documents from the service, as the guide says. */
async function getDocuments(work: string, url: string) {
  for (const name of ['openapi.json', 'openapi-open.json'])
    await writeFile(join(work, name), await (await fetch(`${url}/${name}`)).text());
}

/** Writes a program that calls every operation, and returns the number of calls. */
async function writeCalls(language: Parameters<typeof everyCall>[0], work: string, path: string) {
  const isOpen = language === 'python' || language === 'go';
  const document: Document = JSON.parse(
    await readFile(join(work, isOpen ? 'openapi-open.json' : 'openapi.json'), 'utf8'),
  );
  const { text, count } = everyCall(language, document);
  await writeFile(join(work, path), text);
  return count;
}

/** Fields of responses whose enumerations may get new values. */
const growing = ['kind', 'status', 'source', 'mode', 'rule_type', 'auth_via'];

/** Starts a proxy that acts as a newer service: it adds an unknown value to each enumeration of responses. */
async function startNewerService(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const network = await startNetwork(origin, async ({ method, path, headers, body }) => {
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const sent = { 'content-type': type, ...(authorization && { authorization }) };
    const response = await fetch(origin + path, { method, headers: sent, ...(body.length > 0 && { body }) });
    const answer = JSON.parse(await response.text(), (key, value) => {
      if (key === 'id_token_providers') return [...value, 'unheard_of'];
      return growing.includes(key) && value !== null ? 'unheard_of' : value;
    });
    const answered = { 'content-type': 'application/json' };
    return { status: response.status, headers: answered, body: JSON.stringify(answer) };
  });
  return network.url + pathname;
}

/** Folder with the OpenAPI document, and arguments and expected output of the programs. */
type Service = { work: string; args: string[]; expected: string };

/** Test function with a user at the limit of mails and five sounds, both for one client. */
const test = base.extend<{ service: Service }>({
  service: async ({ gateway, api, sql }, use) => {
    const category = await addCategory(sql);
    const titles = ['Rain', 'Bell', 'Bowl', 'Gong', 'Wind'];
    const rows = titles.map((title, index) => ({ title, category, sort_order: index }));
    const ids = await addSounds(sql, rows);
    await addSection(sql, { mode: 'rule', rule_type: 'newest' });
    const audio_path = await storeFile('audio', 'clients/song.mp3', 'audio/mpeg');
    const song = await addSound(sql, { title: 'Song', audio_path });
    const session = await signUp(api);
    const { email } = session.user;
    await api.patch('/me/customer').auth(session.access_token, bearer).send({ full_name: 'Ada' }).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(200); // makes this client a trusted one
    await Promise.all(Array.from({ length: 5 }, () => api.post('/auth/recover').send({ email }).expect(200)));

    const work = await mkdtemp(join(tmpdir(), 'sounds-service-clients-'));
    await getDocuments(work, gateway.url);
    const newer = await startNewerService(gateway.url);
    const expected = `signed in ${email}
page 2
page 2
page 1
sounds ${ids.join(' ')}
detail ${ids[0]} Rain 300
played 1
favorite ${ids[0]} Rain
customer null +491701234567 email
401 unauthorized invalid_credentials
401 unauthorized code_invalid
404 not_found null
429 rate_limited limit_mails
`;
    await use({ work, args: [gateway.url, email, password, category, newer, song], expected });
    await rm(work, { recursive: true });
  },
});

/** Expected output of the programs when they read from the newer service. */
const readFromNewer = 'providers 3\nsource true\nrules true\nplays 1\nchanges true\n';

test('the TypeScript client compiles strictly and completes the calls of an app', async ({ service }) => {
  const { work, args, expected } = service;
  await writeFile(join(work, 'package.json'), '{"type":"module"}');
  await run(work, 'openapi-typescript', ['openapi.json', '--output', 'sounds.d.ts']);
  await copyFile('examples/clients/use-client.ts', join(work, 'use-client.ts'));
  await symlink(resolve('node_modules'), join(work, 'node_modules'));
  const options = '--strict --noEmit --module nodenext --target esnext --types node --allowImportingTsExtensions';
  expect(await writeCalls('typescript', work, 'calls.ts')).toBe(endpoints.length);
  await run(work, 'tsc', [...options.split(' '), 'use-client.ts', 'calls.ts']);
  expect(await run(work, 'node', ['use-client.ts', ...args])).toBe(expected);
});

test('the Python client completes the calls of an app and accepts unknown values', async ({ service, skip }) => {
  skip(lacking.length > 0, remedies);
  const { work, args, expected } = service;
  await generate(work, 'sounds-python');
  await run(work, python, ['-m', 'compileall', '-q', 'sounds-python']);
  const env = { PYTHONPATH: join(work, 'sounds-python') };
  const printed = await run(work, python, [resolve('examples/clients/use_client.py'), ...args], env);
  expect(printed).toBe(expected + readFromNewer);
  const count = await writeCalls('python', work, 'calls.py');
  expect(count).toBe(endpoints.length);
  expect(await run(work, python, ['calls.py', ...args], env)).toBe(`answered ${count}\n`);
});

test('the Go client completes the calls of an app and accepts unknown values', async ({ service, skip }) => {
  skip(lacking.length > 0, remedies);
  const { work, args, expected } = service;
  await generate(work, 'sounds-go', '--git-user-id', 'example', '--git-repo-id', 'sounds');
  const program = join(work, 'go');
  await mkdir(program);
  await copyFile('examples/clients/use_client.go', join(program, 'main.go'));
  expect(await writeCalls('go', work, 'go/calls.go')).toBe(endpoints.length);
  const module = 'github.com/example/sounds';
  const modules = `require ${module} v0.0.0\n\nreplace ${module} => ../sounds-go\n`;
  await writeFile(join(program, 'go.mod'), `module app\n\ngo 1.18\n\n${modules}`);
  await run(program, 'go', ['mod', 'tidy']);
  expect(await run(program, 'go', ['run', '.', ...args])).toBe(expected + readFromNewer);

  const [command = ''] = guide.match(/(?<=`oapi-codegen )[^>]+(?= > sounds\.go`)/) ?? [];
  const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
  await writeFile(join(work, 'sounds.go'), await run(work, 'go', ['run', generator, ...command.split(' ')]));
  await writeFile(join(work, 'go.mod'), 'module sounds\n\ngo 1.24\n');
  await run(work, 'go', ['mod', 'tidy']);
  await run(work, 'go', ['vet', '.']);
});

test('the Kotlin client and the code of kotlin.md complete the calls of an app', {
  timeout: 20 * 60_000, // Maven downloads a compiler in the first run.
}, async ({ service, api, sql, skip }) => {
  skip(lacking.length > 0, remedies);
  const { work, args, expected } = service;
  const sources = join(work, 'kotlin');
  await generate(work, 'sounds-kotlin', '--package-name', 'sounds.client');
  await cp(join(work, 'sounds-kotlin/src/main/kotlin'), sources, { recursive: true });
  await copyFile('examples/clients/UseClient.kt', join(sources, 'UseClient.kt'));
  expect(await writeCalls('kotlin', work, 'kotlin/Calls.kt')).toBe(endpoints.length);
  const page = await readFile('examples/clients/kotlin.md', 'utf8');
  const blocks = [...page.matchAll(/(?<=```kotlin\n).*?(?=\n```)/gs)].map(String);
  const needsPhone = /^dependencies|"AndroidKeyStore"|context: Context|activity: Activity/;
  const [imports = '', ...code] = blocks.filter((block) => !needsPhone.test(block));
  const frame = await readFile('examples/clients/Guide.kt', 'utf8');
  await writeFile(
    join(sources, 'Guide.kt'),
    frame
      .replace('// THE IMPORTS OF kotlin.md', () => imports.replace(/\n\/\/ For the code that needs Android.*/s, ''))
      .replace('// THE CODE OF kotlin.md', () => code.join('\n\n')),
  );
  const pom = resolve('examples/clients/pom.xml');
  await run(work, 'mvn', ['--batch-mode', '--quiet', '--file', pom, `-Dwork=${work}`, 'compile']);

  const runKotlin = (main: string, programArgs = args) =>
    run(work, 'java', ['-cp', 'target/classes:lib/*', main, ...programArgs]);
  expect(await runKotlin('sounds.client.UseClientKt')).toBe(expected + readFromNewer);
  const { user } = await signUp(api); // the code of the guide needs an account below the limits
  const audio_path = await storeFile('audio', 'clients/long.mp3', 'audio/mpeg', 'sound'.repeat(1000));
  const long = await addSound(sql, { title: 'Long', audio_path });
  const identity = [await makeIdToken({ email: user.email, nonce: 'n-0S6_WzA2Mj' }), 'n-0S6_WzA2Mj'];
  const guideArgs = [...args.with(1, user.email), long, ...identity];
  expect((await runKotlin('sounds.guide.GuideKt', guideArgs)).split('\n')).toEqual([
    'storage true',
    'without a network true',
    'wrong password 401 invalid_credentials null true',
    'short password 400 validation password true',
    'wrong code 401 code_invalid null true',
    'signed out 401 session_ended null false',
    'signed in Home',
    'refreshed after a 401 true',
    'refreshed before the end true',
    'waiting 0 0',
    expect.stringMatching(/^copied [\da-f-]{36} .+$/),
    'kinds that are unknown 0',
    'opened [0, 7000] unavailable 1',
    'positions [75.5] waiting 0',
    'start 0.0 75.5 0.0',
    'downloaded 5000 resumed true',
    'no audio null',
    'history [2]',
    'cleared 0 0',
    'devices true',
    'others signed out [true]',
    'export true',
    'wrong current password 401 invalid_credentials null true',
    'signed out 401 session_ended null false',
    `with Google Home ${hash('sha256', 'n-0S6_WzA2Mj')}`,
    'deleted true 401 invalid_credentials null true',
    '',
  ]);
});

test('the code of swift.md and dart.md has no syntax errors', async ({ skip }) => {
  skip(!existsSync(python), remedies);
  const printed = await run('.', python, ['examples/clients/check_syntax.py']);
  expect(printed).toBe('swift has code\ndart has code\n');
});
