import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { expect } from 'vitest';
import { endpoints } from '../../../src/app.ts';
import { bearer } from '../../../test/support/api.ts';
import { appleEnv } from '../../../test/support/apple.ts';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { foreignAnswers, foreignFault } from '../../../test/support/foreign-answers.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { startNetwork } from '../../../test/support/network.ts';
import { test as base, password, signUp } from '../../../test/support/test.ts';
import { everyCall, sourceOf } from './every-call.ts';

// Generates clients by the commands of the guide, then compiles and uses them with no other settings.

const installed = resolve('examples/clients/.venv/bin');
const python = join(installed, 'python');
// Disables the optimizing compiler and the parallel collector, because the Java programs run only for seconds.
const jdkJavaOptions = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Runs a program and returns its output. @throws Error with the output if the program fails */
async function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}) {
  const options = { cwd, env: { ...process.env, JDK_JAVA_OPTIONS: jdkJavaOptions, ...env }, maxBuffer: 2 ** 26 };
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
    const reason = response.headers.get('X-Error-Reason');
    const answered = { 'content-type': 'application/json', ...(reason && { 'x-error-reason': reason }) };
    return { status: response.status, headers: answered, body: JSON.stringify(answer) };
  });
  return network.url + pathname;
}

/** Starts a proxy that answers in the service's place after a request to `/answers/<index>` of the table. */
async function startForeignAnswers(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  let answer: (typeof foreignAnswers)[number] | undefined;
  const network = await startNetwork(origin, (request) => {
    const [, selected] = /^\/answers\/(.+)/.exec(request.path) ?? [];
    if (selected === undefined) return answer && foreignFault(answer, request);
    answer = foreignAnswers[Number(selected)];
    return 204;
  });
  return network.url + pathname;
}

/** Results of calls in `everyCall` that the service rejects. */
const rejections: Record<string, string> = {
  signUp: '400 invalid_request address_taken',
  refresh: '401 unauthorized session_ended',
  exchangeIdToken: '401 unauthorized id_token_refused',
  exchangeGoogleIdToken: '401 unauthorized id_token_refused',
  exchangeAppleIdToken: '401 unauthorized id_token_refused',
  verify: '401 unauthorized code_invalid',
  revokeApple: '400 invalid_request apple_disabled',
  adoptGuest: '401 unauthorized guest_token_invalid',
  endSession: '404 not_found no_such_session',
};

/** Folder with both documents, addresses of the service, and what the programs print. */
interface Service {
  work: string;
  newer: string;
  args: string[];
  /** Program with a call of every operation. */
  program: string;
  expected: string;
}

/** Test function with a user and five sounds of a newer service. */
const test = base.extend<{ service: Service }>({
  service: async ({ gateway, api, sql }, use) => {
    const category = await addCategory(sql);
    const titles = ['Rain', 'Bell', 'Bowl', 'Gong', 'Wind'];
    const [id = ''] = await addSounds(
      sql,
      titles.map((title, sort_order) => ({ title, category, sort_order })),
    );
    await addSection(sql, { mode: 'rule', rule_type: 'newest' });
    const { user, access_token } = await signUp(api);
    await api.patch('/me/customer').auth(access_token, bearer).send({ full_name: 'Ada' }).expect(200);
    const work = await mkdtemp(join(tmpdir(), 'sounds-service-clients-'));
    for (const name of ['openapi.json', 'openapi-open.json'])
      await writeFile(join(work, name), await (await fetch(`${gateway.url}/${name}`)).text());
    const calls = everyCall(JSON.parse(await readFile(join(work, 'openapi.json'), 'utf8')), user.email, id);
    expect(calls).toHaveLength(endpoints.length);
    const newer = await startNewerService(gateway.url);
    const frame = await readFile('examples/clients/UseClient.kt', 'utf8');
    await use({
      work,
      newer,
      args: [newer, user.email, password, category],
      program: frame.replace(/^.*EVERY CALL$/m, () => sourceOf(calls, id)),
      expected: [
        `signed in ${user.email}`,
        'page Rain Bell',
        'page Bowl Gong',
        'page Wind',
        'customer null +491701234567',
        ...calls.map(({ name }) => `${name} ${rejections[name] ?? 'ok'}`),
        '',
      ].join('\n'),
    });
    await rm(work, { recursive: true });
  },
});

test('the Kotlin client and the code of kotlin.md complete the calls of an app', {
  tags: ['python-packages', 'java', 'maven'],
  timeout: 20 * 60_000, // Maven downloads a compiler in the first run.
}, async ({ service, gateway, api, sql }) => {
  const { work, newer, args, expected, program } = service;
  const sources = join(work, 'kotlin');
  await generate(work, 'sounds-kotlin', '--package-name', 'sounds.client');
  await cp(join(work, 'sounds-kotlin/src/main/kotlin'), sources, { recursive: true });
  await writeFile(join(sources, 'UseClient.kt'), program);
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
  expect(await runKotlin('sounds.client.UseClientKt')).toBe(expected);
  const { user } = await signUp(api); // the program has deleted the account
  const song = await addSound(sql, {
    title: 'Song',
    audio_path: await storeFile('audio', 'clients/song.mp3', 'audio/mpeg'),
  });
  const audio_path = await storeFile('audio', 'clients/long.mp3', 'audio/mpeg', 'sound'.repeat(1000));
  const long = await addSound(sql, { title: 'Long', audio_path });
  const locked = await addSound(sql, { title: 'Locked', audio_path, is_premium: true, sort_order: 100 });
  const answers = await startForeignAnswers(gateway.url);
  const nonce = 'n-0S6_WzA2Mj';
  const identity = [await makeIdToken({ email: user.email, provider: 'apple', nonce }), nonce, hash('sha256', nonce)];
  const apple = await startSmallApple();
  const revoking = await startGateway(appleEnv(apple), apple.url);
  await runKotlin('sounds.guide.GuideKt', [
    ...[gateway.url, user.email, password, newer, song, long],
    ...[...identity, answers, String(foreignAnswers.length), locked, revoking.url],
  ]);
  await revoking.close();
  apple.close();
});

test('the code of swift.md and dart.md has no syntax errors', { tags: ['python-packages'] }, async () => {
  const printed = await run('.', python, ['examples/clients/check_syntax.py']);
  expect(printed).toBe('swift has code\ndart has code\n');
});
