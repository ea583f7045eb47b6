import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findRemedies } from '../support/tools.ts';

test('a tool that is missing, broken or too old is named, and is an error in CI', async ({ onTestFinished }) => {
  const { PATH, CI } = process.env;
  onTestFinished(() => void Object.assign(process.env, { PATH }, CI && { CI }));
  const folder = await mkdtemp(join(tmpdir(), 'tools-'));
  for (const [name, script] of [
    ['ffmpeg', 'echo "ffmpeg: error while loading shared libraries" >&2; exit 127'],
    ['valkey-server', 'echo "Redis server v=6.0.16 sha=00000000:0"'],
    ['caddy', 'echo v2.6.2'],
  ] as const) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  process.env['PATH'] = folder;
  delete process.env['CI'];
  const remedies = await findRemedies();
  expect(remedies).toMatchObject({
    ffmpeg: `${folder}/ffmpeg does not run (ffmpeg: error while loading shared libraries). Install ffmpeg again.`,
    redis: `${folder}/valkey-server is version 6.0. Install 6.2 or newer.`,
    java: 'Install Java 17 or newer.',
  });
  expect(remedies).not.toHaveProperty('caddy');
  process.env['CI'] = 'true';
  await expect(findRemedies()).rejects.toThrow(/^In CI every test must run.*ffmpeg again\. .*Install Java 17/);
});
