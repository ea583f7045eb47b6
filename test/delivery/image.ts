import { execFileSync, spawn } from 'node:child_process';
import { constants, copyFileSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** What an image holds and how it runs. */
export type Image = {
  /** A folder that stands for the root of its file system. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
};

/** Files and folders that .dockerignore, which hides all others, lets into the build. */
const shown = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));

const isShown = (path: string) => shown.some((name) => path === name || path.startsWith(`${name}/`));

/** Copies as `COPY [--from=stage] source… target` does. @throws for a source that .dockerignore hides */
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

/** npm must not learn from the run of these tests what to install where; whom it trusts it must. */
export const buildEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_(?!EXTRA_CA))/i.test(name)),
  );

/**
 * Follows the Dockerfile without Docker: each stage is a folder of its own, and the base image contributes nothing but
 * this very Node.
 * @param folder empty; gets the files
 * @returns the last stage
 * @throws for an instruction that is not followed here, so that none is passed over
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

/** Makes the image's files read-only; root, who may write all the same, does not run what is in them. */
export function sealImage({ root }: Image) {
  execFileSync('chmod', ['-R', 'a-w,a+rX', root]);
}

export function unsealImage({ root }: Image) {
  execFileSync('chmod', ['-R', 'u+w', root]);
}

/** Root can play any user; who is not root runs everything alone. */
const accountOf = ({ user }: Image) =>
  user !== 'root' && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Runs a command of the image as Docker would: nothing else in its environment, not as root.
 * @param stderr where that goes; a file takes all of it, a pipe only as much as is read in time
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
