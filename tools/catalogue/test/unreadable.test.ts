import { spawnSync } from 'node:child_process';
import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { importFolder, makeFolder, rejectedLines, soundsIn, startImport } from './folder.ts';

// Capabilities by which root reads files of others.
const unprivileged =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all']
    : undefined;

describe('files that cannot be read', () => {
  test('a link that leads nowhere is rejected, and a link out of the folder is imported', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
    const elsewhere = await makeFolder({ 'b.wav': tone() });
    await symlink('nowhere.wav', join(folder, category, 'dangling.wav'));
    await symlink('.', join(folder, category, 'round'));
    await symlink(join(elsewhere, 'b.wav'), join(folder, category, 'linked.wav'));
    const { stdout } = await importFolder(folder);
    expect(rejectedLines(stdout)).toEqual([
      expect.stringMatching(/dangling\.wav +The file does not exist\./),
    ]);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['A', 'Linked']);
  });

  test('a folder and a file without permission are rejected, and the rest is imported', async ({
    sql,
    skip,
  }) => {
    skip(process.getuid?.() === 0 && !unprivileged, 'Install setpriv: root may read everything.');
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/b.wav`]: tone(),
      [`${category}/locked/c.wav`]: tone(),
    });
    for (const [path, mode] of [
      ['', 0o755],
      [`${category}/b.wav`, 0],
      [`${category}/locked`, 0],
    ] as const)
      await chmod(join(folder, path), mode);
    // Lets users other than root remove the folder.
    onTestFinished(() => chmod(join(folder, category, 'locked'), 0o755));
    const command = startImport([folder, '--yes'], undefined, unprivileged);
    expect(await command.exited).toBe(1);
    expect(rejectedLines(command.output.stdout)).toEqual([
      expect.stringMatching(/locked\/ +You do not have permission to read it\./),
      expect.stringMatching(/b\.wav +You do not have permission to read it\./),
    ]);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['A']);
  });
});
