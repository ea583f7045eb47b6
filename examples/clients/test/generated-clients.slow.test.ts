import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { documentText } from 'sounds-dev/openapi';
import { describe, expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { addCategory, addSounds } from '../../../test/support/catalogue.ts';
import { test as base, password, signUp } from '../../../test/support/test.ts';
import { timeoutMs } from '../../../test/support/timeout.ts';

// The guide's own commands generate these clients. Each is compiled and used as an app would: without a cast, a template or a
// configuration that the guide does not name.

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

// Programs in Java end within seconds: what the second compiler and the collector of large heaps would cost, they never earn back.
const JDK_JAVA_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Runs a program to its end. @throws Error with what it printed, when it fails */
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

/** The arguments of the generator in the guide for a client, which the guide puts into a folder. */
function generatorArguments(folder: string): string[] {
  const commands = guide.replaceAll(/ \\\n\s*/g, ' ').match(/(?<=generator-cli )generate .*/g) ?? [];
  const command = commands.find((text) => text.includes(` -o ${folder} `));
  if (command === undefined) throw new Error(`The guide generates nothing into ${folder}.`);
  return command.split(' ');
}

const generate = (work: string, folder: string, ...more: string[]) =>
  run(work, join(installed, 'openapi-generator-cli'), [...generatorArguments(folder), ...more]);

type Service = {
  /** A new folder with the document in it. */
  work: string;
  /** What each program is told: an address, an account and a category. */
  args: string[];
  /** What it must print then; it is told how often the first sound has been played. */
  expected: (plays: number) => string;
};

/** A user who has had as many mails as there may be, and five sounds, both for one client alone. */
const test = base.extend<{ service: Service }>({
  service: async ({ gateway, api, sql }, use) => {
    const category = await addCategory(sql);
    const titles = ['Rain', 'Bell', 'Bowl', 'Gong', 'Wind'];
    const ids = await addSounds(
      sql,
      titles.map((title, index) => ({ title, category, sort_order: index })),
    );
    const session = await signUp(api);
    const { email } = session.user;
    await api.patch('/me/customer').auth(session.access_token, bearer).send({ full_name: 'Ada' }).expect(200);

    const mails = Array.from({ length: 5 }, () => api.post('/auth/recover').send({ email }).expect(200));
    await Promise.all(mails);

    const work = await mkdtemp(join(tmpdir(), 'sounds-service-clients-'));
    await writeFile(join(work, 'openapi.json'), documentText());
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
    await use({ work, args: [gateway.url, email, password, category], expected });
    await rm(work, { recursive: true });
  },
});

describe('the client that is generated for', () => {
  test('TypeScript compiles strictly and does what an app does', async ({
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

  test('Python compiles and does what an app does', async ({ service: { work, args, expected }, skip }) => {
    skip(lacking.length > 0, `To generate clients: ${lacking.join('; ')}`);
    await generate(work, 'sounds-python');
    await run(work, python, ['-m', 'compileall', '-q', 'sounds-python']);
    const env = { PYTHONPATH: join(work, 'sounds-python') };
    expect(await run(work, python, [resolve('examples/clients/use_client.py'), ...args], env)).toBe(
      expected(1),
    );
  });

  test('Go compiles and does what an app does', async ({ service: { work, args, expected }, skip }) => {
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
    expect(await run(program, 'go', ['run', '.', ...args])).toBe(expected(1));
  });

  test('Go by oapi-codegen compiles', async ({ service: { work }, skip }) => {
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

  /** By the name of the package that it is generated into, the folder of the guide, and what the guide has an app do at its start. */
  const kotlin = {
    kotlinx: {
      folder: 'sounds-kotlinx',
      start:
        'sounds.kotlinx.infrastructure.Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }',
    },
    moshi: { folder: 'sounds-moshi', start: '' },
  };

  /** The program that uses the Kotlin of kotlin.md: all but what plays, which needs a phone. */
  async function programOfGuide(): Promise<string> {
    const page = await readFile('examples/clients/kotlin.md', 'utf8');
    const samples = [...page.matchAll(/(?<=```kotlin\n).*?(?=\n```)/gs)].map(([sample]) => sample);
    const [session = '', ...rest] = samples.filter((sample) => !sample.includes('player.'));
    const frame = await readFile('examples/clients/Guide.kt', 'utf8');
    return frame.replace('// THE SESSION', () => session).replace('// THE REST', () => rest.join('\n\n'));
  }

  // The first time Maven downloads a compiler, and the compiler is what takes a busy machine longest of all.
  const timeout = 4 * timeoutMs;
  test('Kotlin compiles and does what an app does, with kotlinx.serialization and with Moshi, and so does that of kotlin.md', {
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
    await writeFile(join(work, 'kotlin/Guide.kt'), await programOfGuide());
    await run(work, 'mvn', [
      '--batch-mode',
      '--quiet',
      '--file',
      resolve('examples/clients/pom.xml'),
      `-Dwork=${work}`,
      'compile',
    ]);
    for (const [index, name] of Object.keys(kotlin).entries()) {
      const printed = await run(work, 'java', [
        '-cp',
        'target/classes:lib/*',
        `sounds.${name}.UseClientKt`,
        ...args,
      ]);
      expect(printed, name).toBe(expected(index + 1));
    }
    const ofGuide = await run(work, 'java', ['-cp', 'target/classes:lib/*', 'sounds.guide.GuideKt', ...args]);
    expect(ofGuide).toBe('refreshed after a 401 true\nrefreshed before the end true\nwaiting 0 0\n');
  });
});
