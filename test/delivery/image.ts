import { execFileSync, spawn } from 'node:child_process';
import { constants, copyFileSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** Files and settings of an image. */
export type Image = {
  /** Folder that serves as the root of its file system. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
};

/** Files and folders that .dockerignore does not hide. */
const shown = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));

const isShown = (path: string) => shown.some((name) => path === name || path.startsWith(`${name}/`));

/** Executes `COPY [--from=stage] source… target`. @throws for a source that .dockerignore hides */
function copy(text: string, stages: Map<string, Image>, stage: Image) {
  const [, name, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
  const from = name === undefined ? undefined : stages.get(name);
  const words = paths.split(' ');
  const target = words.pop() ?? '';
  const destination = join(stage.root, resolve('/', stage.workdir, target));
  for (const word of words) {
    if (from === undefined && !isShown(word)) throw new Error(`.dockerignore hides ${word} from the build.`);
    const source = from ? join(from.root, word) : word;
    const intoFolder = target.endsWith('/') && !statSync(source).isDirectory();
    cpSync(source, intoFolder ? join(destination, basename(word)) : destination, {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

/** Environment without the settings of npm and Node of this test run, except trusted certificates. */
export const buildEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_(?!EXTRA_CA))/i.test(name)),
  );

/**
 * Builds the Dockerfile without Docker. Each stage is a folder, and the base image contributes this Node alone.
 * @param folder an empty folder
 * @returns the last stage
 * @throws for an instruction that is not implemented here
 */
export function buildImage(folder: string): Image {
  const stages = new Map<string, Image>();
  let stage: Image | undefined;
  for (const line of readFileSync('Dockerfile', 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, keyword = '', text = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    const words = text.split(' ');
    if (keyword === 'FROM') {
      stage = emptyStage(join(folder, String(stages.size)));
      stages.set(words[2] ?? 'last', stage);
      continue;
    }
    if (stage === undefined) throw new Error('The Dockerfile does not begin with FROM.');
    switch (keyword) {
      case 'WORKDIR':
        stage.workdir = text;
        mkdirSync(join(stage.root, text), { recursive: true });
        break;
      case 'ENV':
        Object.assign(stage.env, Object.fromEntries(words.map((word) => word.split('=', 2))));
        break;
      case 'COPY':
        copy(text, stages, stage);
        break;
      case 'RUN':
        execFileSync('sh', ['-c', text], {
          cwd: join(stage.root, stage.workdir),
          env: { ...buildEnvironment(), npm_config_prefer_offline: 'true', ...stage.env },
          stdio: 'pipe',
          ...accountOf(stage),
        });
        break;
      case 'USER':
        stage.user = text;
        break;
      case 'HEALTHCHECK':
        stage.healthcheck = JSON.parse(text.slice(text.indexOf('[')));
        break;
      case 'CMD':
        stage.command = JSON.parse(text);
        break;
      case 'EXPOSE':
        break;
      default:
        throw new Error(`${keyword} is not followed here.`);
    }
  }
  if (stage === undefined) throw new Error('The Dockerfile is empty.');
  return stage;
}

function emptyStage(root: string): Image {
  const bin = join(root, 'usr/local/bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(process.execPath, join(bin, 'node'), constants.COPYFILE_FICLONE);
  return { root, workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] };
}

/** Makes the files of the image read-only. */
export function sealImage({ root }: Image) {
  execFileSync('chmod', ['-R', 'a-w,a+rX', root]);
}

export function unsealImage({ root }: Image) {
  execFileSync('chmod', ['-R', 'u+w', root]);
}

/** Returns the user of the image if this process runs as root. */
const accountOf = ({ user }: Image) =>
  user !== 'root' && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Runs a command of the image with its own environment, and not as root.
 * @param stderr a pipe, or a file for output that must not be dropped
 */
export function runIn(
  image: Image,
  [program = '', ...args]: string[],
  env: Record<string, string>,
  stderr: 'pipe' | number = 'pipe',
) {
  return spawn(join(image.root, 'usr/local/bin', program), args, {
    cwd: join(image.root, image.workdir),
    env: { ...image.env, ...env },
    stdio: ['ignore', 'pipe', stderr],
    ...accountOf(image),
  });
}
