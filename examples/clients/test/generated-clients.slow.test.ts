import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { documentText } from 'sounds-dev/openapi';
import { describe, expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { startNetwork } from '../../../test/support/network.ts';
import { test as base, password, signUp } from '../../../test/support/test.ts';

// The commands of the guide generate these clients. Each is compiled and used with the settings of the guide alone.

const installed = resolve('examples/clients/.venv/bin');
const python = join(installed, 'python');
const lacking = [
  !existsSync(python) &&
    'python3 -m venv examples/clients/.venv && examples/clients/.venv/bin/pip install -r examples/clients/requirements.txt',
  spawnSync('java', ['-version']).error && 'install Java, 17 or newer',
  spawnSync('mvn', ['--version']).error && 'install Maven',
].filter((remedy) => typeof remedy === 'string');
if (lacking.length > 0 && process.env['CI']) throw new Error(`CI generates clients: ${lacking.join('; ')}`);

const goInstalled = !spawnSync('go', ['version']).error;
if (!goInstalled && process.env['CI']) throw new Error('CI generates clients: install Go');

const runFile = promisify(execFile);

// Java programs end within seconds here, so the optimizing compiler and the parallel collector would only cost time.
const JDK_JAVA_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Runs a program and returns its output. @throws Error with the output when the program fails */
async function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}) {
  const { stdout } = await runFile(program, args, {
    cwd,
    env: { ...process.env, JDK_JAVA_OPTIONS, ...env },
    maxBuffer: 2 ** 26,
  }).catch(({ message, stdout }) => {
    throw new Error(`${message}\n${stdout}`);
  });
  return stdout;
}

const guide = await readFile('docs/apps.md', 'utf8');

/** Returns the generator's arguments in the guide for the client in this folder. */
function generatorArguments(folder: string): string[] {
  const commands = guide.replaceAll(/ \\\n\s*/g, ' ').match(/(?<=generator-cli@[\d.]+ )generate .*/g) ?? [];
  const command = commands.find((text) => text.includes(` -o ${folder} `));
  if (command === undefined) throw new Error(`The guide generates nothing into ${folder}.`);
  return command.split(' ');
}

const generate = (work: string, folder: string, ...more: string[]) =>
  run(work, join(installed, 'openapi-generator-cli'), [...generatorArguments(folder), ...more]);

/** Writes the document, and the copy with open enumerations that the guide's jq command makes. */
async function writeDocuments(work: string) {
  const [, filter = ''] = /jq '([^']+)' openapi\.json > openapi-open\.json/.exec(guide) ?? [];
  await writeFile(join(work, 'openapi.json'), documentText());
  await writeFile(join(work, 'openapi-open.json'), await run(work, 'jq', [filter, 'openapi.json']));
}

/** Fields of responses whose enumerations may grow. */
const growing = ['kind', 'status', 'source', 'mode', 'rule_type', 'auth_via'];

/** Starts a service that is newer than the document: each enumeration that may grow has an unknown value. */
async function startNewerService(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const network = await startNetwork(origin, async ({ method, path, headers, body }) => {
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const response = await fetch(origin + path, {
      method,
      headers: { 'content-type': type, ...(authorization && { authorization }) },
      ...(body.length > 0 && { body }),
    });
    const answer = JSON.parse(await response.text(), (key, value) => {
      if (key === 'id_token_providers') return [...value, 'unheard_of'];
      return growing.includes(key) && value !== null ? 'unheard_of' : value;
    });
    const answered = { 'content-type': 'application/json' };
    return { status: response.status, headers: answered, body: JSON.stringify(answer) };
  });
  return network.url + pathname;
}

type Service = {
  /** A new folder that holds the document. */
  work: string;
  /** Arguments of each program: an address, an account, a category, a newer service, a sound with audio. */
  args: string[];
  /** Output of each program; `plays` counts the plays of the first sound. */
  expected: (plays: number) => string;
};

/** A user at the limit of mails, and five sounds, both for one client alone. */
const test = base.extend<{ service: Service }>({
  service: async ({ gateway, api, sql }, use) => {
    const category = await addCategory(sql);
    const titles = ['Rain', 'Bell', 'Bowl', 'Gong', 'Wind'];
    const ids = await addSounds(
      sql,
      titles.map((title, index) => ({ title, category, sort_order: index })),
    );
    await addSection(sql, { mode: 'rule', rule_type: 'newest' });
    const audio_path = await storeFile('audio', 'clients/song.mp3', 'audio/mpeg');
    const song = await addSound(sql, { title: 'Song', audio_path });
    const session = await signUp(api);
    const { email } = session.user;
    await api.patch('/me/customer').auth(session.access_token, bearer).send({ full_name: 'Ada' }).expect(200);

    const mails = Array.from({ length: 5 }, () => api.post('/auth/recover').send({ email }).expect(200));
    await Promise.all(mails);

    const work = await mkdtemp(join(tmpdir(), 'sounds-service-clients-'));
    await writeDocuments(work);
    const newer = await startNewerService(gateway.url);
    const expected = (plays: number) =>
      [
        `signed in ${email}`,
        'page 2',
        'page 2',
        'page 1',
        `sounds ${ids.join(' ')}`,
        `detail ${ids[0]} Rain 300`,
        `played ${plays}`,
        `favorite ${ids[0]} Rain`,
        'customer null +491701234567 email',
        '401 unauthorized invalid_credentials',
        '404 not_found null',
        '429 rate_limited limit_mails',
        '',
      ].join('\n');
    await use({ work, args: [gateway.url, email, password, category, newer, song], expected });
    await rm(work, { recursive: true });
  },
});

/** Output of the programs that read from the newer service. */
const readFromNewer = 'providers 3\nsource true\nrules true\nplays 1\nchanges true\n';

describe('generated clients', () => {
  test('the TypeScript client compiles strictly and does what an app does', async ({
    service: { work, args, expected },
  }) => {
    await writeFile(join(work, 'package.json'), '{"type":"module"}');
    await run(work, 'openapi-typescript', [resolve('openapi.json'), '--output', 'sounds.d.ts']);
    await copyFile('examples/clients/use-client.ts', join(work, 'use-client.ts'));
    await symlink(resolve('node_modules'), join(work, 'node_modules'));
    await run(work, 'tsc', [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'esnext',
      '--types',
      'node',
      '--allowImportingTsExtensions',
      'use-client.ts',
    ]);
    expect(await run(work, 'node', ['use-client.ts', ...args])).toBe(expected(1));
  });

  test('the Python client compiles, does what an app does and accepts unknown values', async ({
    service: { work, args, expected },
    skip,
  }) => {
    skip(lacking.length > 0, `To generate clients: ${lacking.join('; ')}`);
    await generate(work, 'sounds-python');
    await run(work, python, ['-m', 'compileall', '-q', 'sounds-python']);
    const env = { PYTHONPATH: join(work, 'sounds-python') };
    const printed = await run(work, python, [resolve('examples/clients/use_client.py'), ...args], env);
    expect(printed).toBe(expected(1) + readFromNewer);
  });

  test('the Go client compiles, does what an app does and accepts unknown values', async ({
    service: { work, args, expected },
    skip,
  }) => {
    skip(lacking.length > 0, `To generate clients: ${lacking.join('; ')}`);
    skip(!goInstalled, 'Install Go to compile the client for Go.');
    await generate(work, 'sounds-go', '--git-user-id', 'example', '--git-repo-id', 'sounds');
    const program = join(work, 'go');
    await mkdir(program);
    await copyFile('examples/clients/use_client.go', join(program, 'main.go'));
    const module = 'github.com/example/sounds';
    await writeFile(
      join(program, 'go.mod'),
      `module app\n\ngo 1.18\n\nrequire ${module} v0.0.0\n\nreplace ${module} => ../sounds-go\n`,
    );
    await run(program, 'go', ['mod', 'tidy']);
    expect(await run(program, 'go', ['run', '.', ...args])).toBe(expected(1) + readFromNewer);
  });

  test('the Go client of oapi-codegen compiles', async ({ service: { work }, skip }) => {
    skip(!goInstalled, 'Install Go to compile the client for Go.');
    const [command = ''] = guide.match(/(?<=`oapi-codegen )[^>]+(?= > sounds\.go`)/) ?? [];
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
    await writeFile(
      join(work, 'sounds.go'),
      await run(work, 'go', ['run', generator, ...command.split(' ')]),
    );
    await writeFile(join(work, 'go.mod'), 'module sounds\n\ngo 1.24\n');
    await run(work, 'go', ['mod', 'tidy']);
    await run(work, 'go', ['vet', '.']);
  });

  /** Folder of the guide and start-up code of the guide, by the package that the client is generated into. */
  const kotlin = {
    kotlinx: {
      folder: 'sounds-kotlinx',
      start:
        'sounds.kotlinx.infrastructure.Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }',
    },
    moshi: { folder: 'sounds-moshi', start: '' },
  };

  // Maven downloads a compiler the first time.
  const timeout = 20 * 60_000;
  test('both Kotlin clients compile, do what an app does and accept unknown values', {
    timeout,
  }, async ({ service, skip }) => {
    skip(lacking.length > 0, `To generate clients: ${lacking.join('; ')}`);
    const { work, args, expected } = service;
    const use = await readFile('examples/clients/UseClient.kt', 'utf8');
    await Promise.all(
      Object.entries(kotlin).map(async ([name, { folder, start }]) => {
        await generate(work, folder, '--package-name', `sounds.${name}`);
        const sources = join(work, 'kotlin', name);
        await cp(join(work, folder, 'src/main/kotlin'), sources, { recursive: true });
        const main = `${use.replaceAll('sounds.client', `sounds.${name}`)}\nfun configure() { ${start} }\n`;
        await writeFile(join(sources, 'UseClient.kt'), main);
      }),
    );
    await compileKotlin(work);
    for (const [index, name] of Object.keys(kotlin).entries())
      expect(await runKotlin(work, `sounds.${name}.UseClientKt`, args), name).toBe(
        expected(index + 1) + readFromNewer,
      );
  });
});

const compileKotlin = (work: string) =>
  run(work, 'mvn', [
    '--batch-mode',
    '--quiet',
    '--file',
    resolve('examples/clients/pom.xml'),
    `-Dwork=${work}`,
    'compile',
  ]);

const runKotlin = (work: string, main: string, args: string[]) =>
  run(work, 'java', ['-cp', 'target/classes:lib/*', main, ...args]);

/** Returns the code blocks of a page. */
const codeOf = async (page: string) =>
  [...(await readFile(page, 'utf8')).matchAll(/(?<=```(?:kotlin|swift|dart)\n).*?(?=\n```)/gs)].map(String);

describe('code to copy', () => {
  test('the Kotlin code of kotlin.md compiles and does what the guide asks of an app', {
    timeout: 20 * 60_000, // as above
  }, async ({ service: { work, args }, skip }) => {
    skip(lacking.length > 0, `To generate clients: ${lacking.join('; ')}`);
    const blocks = (await codeOf('examples/clients/kotlin.md')).filter(
      (block) => !block.includes('"AndroidKeyStore"'),
    );
    const frame = await readFile('examples/clients/Guide.kt', 'utf8');
    await mkdir(join(work, 'kotlin'));
    await writeFile(
      join(work, 'kotlin/Guide.kt'),
      frame.replace('// THE CODE OF kotlin.md', () => blocks.join('\n\n')),
    );
    await compileKotlin(work);
    const printed = await runKotlin(work, 'sounds.guide.GuideKt', args);
    expect(printed.split('\n')).toEqual([
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
      '',
    ]);
  });

  base('the Swift and Dart code has no syntax errors', async ({ skip }) => {
    skip(!existsSync(python), `To parse Swift and Dart: ${lacking.join('; ')}`);
    const printed = await run('.', python, ['examples/clients/check_syntax.py']);
    expect(printed).toBe('swift has code\ndart has code\n');
  });
});
