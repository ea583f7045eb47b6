import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { addSound, addSounds } from '../../../test/support/catalogue.ts';
import { errorAnswer, faultsOf, nameOf, pass, successAnswer, test, withoutRepeats } from './device.ts';
import { memoryFiles, record, start, storage } from './recordings.ts';

test('premium sounds are refused without premium, and locked when it ends', async ({ device, sql }) => {
  const { api, account, network } = device;
  const id = await addSound(sql);
  await record(sql, id, 'a');
  await sql`update public.sounds set is_premium = true where id = ${id}`;
  const until = (time: string | null) =>
    sql`update public.customers set premium_until = ${time}::text::timestamptz where id = ${account.user.id}`;
  await expect(api.sounds.audio(id)).rejects.toMatchObject({ code: 'not_found', reason: 'locked' });
  const [files, { fetch }] = [memoryFiles(), storage()];
  const downloads = start(api, { files, fetch });
  await downloads.add(id);
  await downloads.resume();
  expect(downloads.states().get(id)).toEqual({ status: 'failed', reason: 'locked' });

  await until('infinity');
  await downloads.resume();
  expect((await downloads.audioOf(id)).url).toMatch(/^file:/);
  await until(new Date(Date.now() - 86_400_000).toISOString());
  await downloads.resume();
  await expect(downloads.audioOf(id)).rejects.toMatchObject({ reason: 'locked' });
  expect(downloads.states().get(id)).toMatchObject({ status: 'ready' });

  const inOneHour = new Date(Date.now() + 3_600_000).toISOString();
  await until(inOneHour);
  expect((await downloads.audioOf(id)).url).toMatch(/^file:/); // requests the new end of premium
  await downloads.resume();
  network.before = () => 'cut';
  const restarted = start(api, { files, fetch });
  await restarted.add(id);
  expect(restarted.states().get(id)).toMatchObject({ status: 'ready' });
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const isLocked = async () => {
    let result: boolean | undefined;
    void downloads.audioOf(id).then(
      () => (result = false),
      ({ reason }) => (result = reason === 'locked'),
    );
    for (; result === undefined; vi.advanceTimersByTime(100)) await setImmediate();
    return result;
  };
  // Without a network, files play for three more days, because premium may have been renewed.
  const threeDaysMs = 3 * 86_400_000;
  vi.setSystemTime(Date.parse(inOneHour) + threeDaysMs - 60_000);
  expect(await isLocked()).toBe(false);
  vi.setSystemTime(Date.parse(inOneHour) + threeDaysMs);
  expect(await isLocked()).toBe(true);
  vi.useRealTimers();
  network.before = pass;
  await until(new Date(Date.now() - 1_000).toISOString());
  await start(device.again(), { files, fetch }).resume(); // the service says that premium is over
  network.before = () => 'cut';
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now: Date.now() });
  expect(await isLocked()).toBe(true);
  vi.useRealTimers();

  network.before = pass;
  await until(new Date(Date.now() - 29 * 86_400_000).toISOString());
  await downloads.resume();
  expect(downloads.states().get(id)).toMatchObject({ status: 'ready' });
  await until(new Date(Date.now() - 31 * 86_400_000).toISOString());
  await downloads.resume();
  expect(downloads.states().get(id)).toEqual({ status: 'failed', reason: 'locked' });
  await until(inOneHour);
  await downloads.resume();
  expect((await downloads.audioOf(id)).url).toMatch(/^file:/);
});

test('files of sounds that are gone are removed after a complete sync, and only then', async ({ device, sql }) => {
  const { api, again, network } = device;
  const [hidden, kept] = (await addSounds(sql, [{}, {}])) as [string, string];
  for (const id of [hidden, kept]) await record(sql, id, 'a');
  await api.offline.sync();
  const [newer = ''] = await addSounds(sql, [{}]);
  await record(sql, newer, 'a');
  const files = memoryFiles();
  const restarted = again(withoutRepeats);
  const downloads = start(restarted, { files, fetch });
  await downloads.add(hidden, kept, newer);
  await downloads.resume();
  await sql`update public.sounds set is_active = false where id = ${hidden}`;
  const idsOf = () => [...downloads.states().keys()].toSorted();

  network.before = faultsOf('GET /catalogue/changes', errorAnswer(500, 'server_error'));
  await expect(restarted.offline.sync()).rejects.toMatchObject({ code: 'server_error' });
  const changes = [{ kind: 'sound', id: hidden, sound: null }];
  const page = successAnswer({ data: changes, next: 'a.1', has_more: false, reset: false });
  network.before = (request) =>
    faultsOf('GET /catalogue/changes', page)(request) ?? (nameOf(request) === 'POST /sounds/files' ? 'cut' : undefined);
  await restarted.offline.sync();
  await downloads.resume();
  expect(idsOf()).toEqual([hidden, kept, newer].toSorted());

  network.before = (request) => faultsOf('GET /catalogue/changes', page)(request); // a copy without the newest sound
  await restarted.offline.sync();
  await expect.poll(idsOf).toEqual([kept, newer].toSorted());
  await downloads.resume();
  expect(files.list().map(({ name }) => name.split('.')[0])).toEqual(expect.arrayContaining([kept, newer]));
  expect(files.stored.size).toBe(2);
});

test('add goes on when an id cannot be stored', async ({ device, sql }) => {
  const ids = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
  for (const id of ids) await record(sql, id, 'a');
  const files = memoryFiles();
  const { write } = files;
  files.write = (name, bytes, options) => {
    if (name === ids[1]) throw new DOMException('No space left.', 'QuotaExceededError');
    write(name, bytes, options);
  };
  const downloads = start(device.api, { files, fetch });
  await downloads.add(...ids);
  await expect.poll(() => ids.map((id) => downloads.states().get(id)?.status)).toEqual(['ready', 'failed', 'ready']);
  expect(downloads.states().get(ids[1])).toEqual({ status: 'failed', reason: 'storage' });
});
