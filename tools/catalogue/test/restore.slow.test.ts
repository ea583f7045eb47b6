import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@supabase/supabase-js';
import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import { expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { tone } from '../../../test/support/audio.ts';
import { newEmail, password, signUp, test } from '../../../test/support/test.ts';
import { put } from '../project/storage.ts';
import { catalogueOf } from './catalogue-of.ts';
import { startEmptyProject } from './empty-project.ts';
import { importInto, makeFolder, picture, startExport } from './folder.ts';

// Follows docs/operate.md: pg_dump for the database, npm run export for the files.

const run = promisify(execFile);
const [, installed = ''] =
  /\) (\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
// pg_dump reads servers up to its release.
const release = Number(installed) >= 17 ? 17 : 15;

test('a project restored from its backups has its accounts, keys, favorites and sounds', async ({
  skip,
  onTestFinished,
}) => {
  skip(!installed, 'Install pg_dump and psql (postgresql-client) to make a backup.');
  const old = await startEmptyProject(release);
  onTestFinished(old.stop);
  const recordings = await makeFolder({
    'bowls/a.wav': tone(),
    'bowls/b.wav': tone(),
    'bowls/cover.jpg': await picture(),
  });
  expect((await importInto(old, recordings, '--make-categories')).code).toBe(0);
  const byHand = { bucket: 'audio', path: 'hand.wav', type: 'audio/wav' } as const;
  await put(createClient(old.apiUrl, old.secretKey), byHand, tone());
  const [sound] = await old.sql`
    insert into public.sounds (title, audio_path) values ('By hand', 'hand.wav') returning id`;
  const email = newEmail();
  const before = await signUp(old.api, email);
  const auth = { Authorization: `Bearer ${before.access_token}` };
  await old.api.post('/favorites').set(auth).send({ sound_id: sound?.['id'] }).expect(201);
  await old.api.post(`/sounds/${sound?.['id']}/play`).set(auth).expect(200);
  const [key] = await old.sql`select api_key from admin.create_api_key('Partner', ${email})`;

  const backup = await mkdtemp(join(tmpdir(), 'sounds-service-backup-'));
  onTestFinished(() => rm(backup, { recursive: true, force: true }));
  const data = join(backup, 'data.sql');
  const parts = ['--data-only', '--schema=auth', '--schema=public', '--schema=private'];
  const others = ['--exclude-table=auth.schema_migrations'];
  await run('pg_dump', [...parts, ...others, `--file=${data}`, as(SUPERUSER, old.databaseUrl)]);
  expect(await startExport(join(backup, 'files'), old).exited).toBe(0);

  const restored = await startEmptyProject(release);
  onTestFinished(restored.stop);
  const replica = ['--command', 'set session_replication_role = replica'];
  const strict = ['--quiet', '--single-transaction', '--set', 'ON_ERROR_STOP=1'];
  await run('psql', [as(SUPERUSER, restored.databaseUrl), ...strict, ...replica, '--file', data]);
  const { code, stdout, stderr } = await importInto(restored, join(backup, 'files'));
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('0 made, 3 updated, 0 unchanged, 0 left alone, 0 rejected.');

  expect(await catalogueOf(restored)).toEqual(await catalogueOf(old));
  const { body: session } = await restored.api.post('/auth/signin').send({ email, password }).expect(200);
  expect(session.data.user.id).toBe(before.user.id);
  for (const token of [session.data.access_token, key?.['api_key']]) {
    const { body: favorites } = await restored.api.get('/favorites').auth(token, bearer).expect(200);
    expect(favorites.data).toMatchObject([{ sound_id: sound?.['id'] }]);
  }
  const { body: detail } = await restored.api
    .get(`/sounds/${sound?.['id']}`)
    .auth(session.data.access_token, bearer)
    .expect(200);
  expect(detail.data.play_count).toBe(1);
  await restored.api.post('/auth/refresh').send({ refresh_token: before.refresh_token }).expect(200);
});
