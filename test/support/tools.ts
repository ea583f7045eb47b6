import { execFile } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

interface Tool {
  /** Name of the package to install. */
  install: string;
  /** Returns the path of the tool, if there is one. */
  find: () => string | undefined;
  /** Arguments with which the program prints its version. Default: --version. Null if the tool is not a program. */
  versionArgs?: string[] | null;
  /** Oldest release that works. Default: any. */
  oldest?: `${number}.${number}`;
  /** True if the tool may be missing in CI, because a system that runs it does not have the tool. */
  isOptional?: true;
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns a function that finds the first of these programs on the path. */
const onPath =
  (...names: string[]) =>
  () => {
    const folders = (process.env['PATH'] ?? '').split(delimiter);
    return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  };

/** Programs that some tests need. Each is a tag of vitest: `test('…', { tags: ['redis'] }, …)`. */
const tools = {
  ffmpeg: { install: 'ffmpeg', find: onPath('ffmpeg'), versionArgs: ['-version'], oldest: '5.0' },
  redis: { install: 'redis-server or valkey-server', find: onPath('redis-server', 'valkey-server'), oldest: '6.2' },
  caddy: { install: 'caddy', find: onPath('caddy'), versionArgs: ['version'], oldest: '2.0' },
  // Prefers the headless shell, which needs a fifth of the processor time.
  browser: {
    install: 'chromium-headless-shell or chromium',
    find: () =>
      onPath('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')() ??
      ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'].find(isExecutable),
  },
  postgresql: { install: 'pg_dump and psql (postgresql-client)', find: onPath('pg_dump'), oldest: '15.0' },
  openssl: { install: 'openssl', find: onPath('openssl'), versionArgs: ['version'] },
  curl: { install: 'curl', find: onPath('curl') },
  git: { install: 'git', find: onPath('git') },
  script: { install: 'script (bsdutils or util-linux)', find: onPath('script') },
  setpriv: { install: 'setpriv (util-linux)', find: onPath('setpriv') },
  java: { install: 'Java 17 or newer', find: onPath('java'), versionArgs: ['-version'], oldest: '17.0' },
  maven: { install: 'Maven', find: onPath('mvn') },
  'python-packages': {
    install: 'examples/clients/requirements.txt in examples/clients/.venv, by the command in CONTRIBUTING.md',
    find: () => ['examples/clients/.venv/bin/python'].find(isExecutable),
  },
  swift: { install: 'Swift 6 (Debian 13: swiftlang and libstdc++-14-dev)', find: onPath('swiftc'), isOptional: true },
  'pg-cron': {
    install: 'postgresql-17-cron or postgresql-15-cron',
    find: () => globSync('/usr/lib/postgresql/1[57]/lib/pg_cron.so').toSorted().at(-1),
    versionArgs: null,
    isOptional: true, // Ubuntu has neither.
  },
} satisfies Record<string, Tool>;

type ToolName = keyof typeof tools;

export const toolNames = Object.keys(tools) as ToolName[];

declare module 'vitest' {
  interface TestTags {
    tags: ToolName;
  }
}

/** Returns the path of a tool. @throws an Error that says what to install */
export function pathOf(name: ToolName): string {
  const { find, install } = tools[name];
  const path = find();
  if (path === undefined) throw new Error(`Install ${install}.`);
  return path;
}

function isOlder(version: string, oldest: string) {
  const [[major = 0, minor = 0], [oldestMajor = 0, oldestMinor = 0]] = [version, oldest].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** Returns what to do so that a tool can be used, or null if it can be used already. */
async function remedyFor({ find, install, versionArgs = ['--version'], oldest }: Tool): Promise<string | null> {
  const path = find();
  if (path === undefined) return `Install ${install}.`;
  if (versionArgs === null) return null;
  try {
    const { stdout, stderr } = await promisify(execFile)(path, versionArgs);
    const version = /\d+\.\d+/.exec(stdout + stderr)?.[0];
    if (!oldest || !version || !isOlder(version, oldest)) return null;
    return `${path} is version ${version}. Install ${oldest} or newer.`;
  } catch (error) {
    const reason = (error as Error).message.trim().split('\n').at(-1);
    return `${path} does not run (${reason}). Install ${install} again.`;
  }
}

export type Remedies = Partial<Record<ToolName, string>>;

/**
 * Returns what to do about each tool that is missing, broken or too old.
 * @throws an Error in CI, where no test may be left out
 */
export async function findRemedies(): Promise<Remedies> {
  const found = await Promise.all(
    Object.entries<Tool>(tools).map(async ([name, tool]) => ({ name, ...tool, remedy: await remedyFor(tool) })),
  );
  const lacking = found.filter(({ remedy }) => remedy !== null);
  const errors = lacking.filter(({ isOptional }) => !isOptional).map(({ remedy }) => remedy);
  if (process.env['CI'] && errors.length > 0)
    throw new Error(`In CI every test must run, so all tools are necessary. ${errors.join(' ')}`);
  return Object.fromEntries(lacking.map(({ name, remedy }) => [name, remedy]));
}
