import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { buildEnvironment } from '../../../test/delivery/image.ts';
import { writeRecipes } from './recipes.ts';

test.for(['55', 'latest'])('the recipes of the README compile with expo-file-system %s', async (version) => {
  const folder = writeRecipes();
  const run = async (program: string, args: string[]) => {
    const env = { ...buildEnvironment(), npm_config_prefer_offline: 'true' };
    await promisify(execFile)(program, args, { cwd: folder, env }).catch(({ stdout, stderr }) => {
      throw new Error(stdout || stderr);
    });
  };
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}');
  // Install it without its peers Expo and React Native, because its types need neither.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, `expo-file-system@${version}`]);
  const config = {
    extends: resolve('packages/client/tsconfig.json'),
    compilerOptions: { lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'] },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(resolve('node_modules/.bin/tsc'), []);
});
