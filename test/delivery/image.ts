import { execFileSync, spawn } from 'node:child_process';
import { constants, copyFileSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** Settings of an image, and its files below the folder `root`. */
export interface Image {
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
}

/** Returns the environment without this test run's settings of npm and Node, except trusted certificates. */
export const buildEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_(?!EXTRA_CA))/i.test(name)));

/** Files and folders that .dockerignore does not exclude. */
const shown = [...readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)].map(([, name = '']) => name);

function startStage(root: string): Image {
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'), constants.COPYFILE_FICLONE);
  return { root, workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] };
}

/** Executes `COPY [--from=stage] source… target`. @throws for a source that .dockerignore excludes */
function copy(text: string, stages: Map<string, Image>, { root, workdir }: Image) {
  const [, stage = '', paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
  const from = stages.get(stage)?.root ?? '.';
  const words = paths.split(' ');
  const target = words.pop() ?? '';
  const destination = join(root, resolve('/', workdir, target));
  for (const word of words) {
    if (stage === '' && !shown.some((name) => `${word}/`.startsWith(`${name}/`)))
      throw new Error(`.dockerignore excludes ${word} from the build.`);
    const source = join(from, word);
    const isIntoFolder = target.endsWith('/') && !statSync(source).isDirectory();
    const to = isIntoFolder ? join(destination, basename(word)) : destination;
    cpSync(source, to, { recursive: true, verbatimSymlinks: true });
  }
}

/** Returns the user of the image if this process runs as root. */
const accountOf = ({ user }: Image) =>
  user !== 'root' && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Builds the Dockerfile without Docker. Each stage is a folder, and the only part of the base image is this Node.
 * @param folder empty folder
 * @returns the last stage
 * @throws for an instruction that is not implemented here
 */
export function buildImage(folder: string): Image {
  const stages = new Map<string, Image>();
  let stage = startStage(join(folder, 'none'));
  const instructions: Record<string, (text: string) => unknown> = {
    FROM: (text) => {
      stage = startStage(join(folder, String(stages.size)));
      stages.set(text.split(' ')[2] ?? 'last', stage);
    },
    WORKDIR: (text) => {
      stage.workdir = text;
      mkdirSync(join(stage.root, text), { recursive: true });
    },
    ENV: (text) => Object.assign(stage.env, Object.fromEntries(text.split(' ').map((word) => word.split('=', 2)))),
    COPY: (text) => copy(text, stages, stage),
    RUN: (text) =>
      execFileSync('sh', ['-c', text], {
        cwd: join(stage.root, stage.workdir),
        env: { ...buildEnvironment(), npm_config_prefer_offline: 'true', ...stage.env },
        stdio: 'pipe',
        ...accountOf(stage),
      }),
    USER: (text) => (stage.user = text),
    HEALTHCHECK: (text) => (stage.healthcheck = JSON.parse(text.slice(text.indexOf('[')))),
    CMD: (text) => (stage.command = JSON.parse(text)),
    EXPOSE: () => {},
  };
  for (const [, keyword = '', text = ''] of readFileSync('Dockerfile', 'utf8').matchAll(/^(\w+) (.*)$/gm)) {
    const execute = instructions[keyword];
    if (execute === undefined) throw new Error(`The test cannot execute ${keyword}. Implement it.`);
    execute(text);
  }
  return stage;
}

/** Runs a command in the environment of the image, but never as root. @param stderr a pipe or an open file */
export const runIn = (
  image: Image,
  [program = '', ...args]: string[],
  env: Record<string, string>,
  stderr: 'pipe' | number = 'pipe',
) =>
  spawn(join(image.root, 'usr/local/bin', program), args, {
    cwd: join(image.root, image.workdir),
    env: { ...image.env, ...env },
    stdio: ['ignore', 'pipe', stderr],
    ...accountOf(image),
  });
