import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addSection, addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { forge } from '../support/forge.ts';
import { rest } from '../support/rest.ts';
import { clientWith, issueKey, newUser, type Session, type Sql, test } from '../support/test.ts';

const content = 'for members only';
const contentOf = async (url: string) => (await fetch(url)).text();

/** Adds a sound with a recording. Returns its id. */
async function addRecording(sql: Sql, is_premium = true) {
  const audio_path = await storeFile('audio', `${randomUUID()}.mp3`, 'audio/mpeg', content);
  const cover_image_path = await storeFile('covers', `${randomUUID()}.png`, 'image/png', 'a cover');
  return addSound(sql, { audio_path, cover_image_path, is_premium });
}

/** Adds a section of the home page with these sounds. Returns its slug. */
async function addSectionOf(sql: Sql, ...ids: string[]) {
  const slug = await addSection(sql, { mode: 'manual' });
  await sql`
    insert into public.home_section_sounds (section_id, sound_id, position)
    select id, sound, place from public.home_sections, unnest(${ids}::uuid[]) with ordinality as given (sound, place)
    where slug = ${slug}`;
  return slug;
}

/** Sets the end of premium as an administrator does in the table editor. */
const setEnd = (sql: Sql, { user }: Session, end: string | null) =>
  sql`update public.customers set premium_given_until = ${end}::text::timestamptz where id = ${user.id}`;

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

test('a premium sound is locked for callers without premium, from the next request on', async ({ gateway, sql }) => {
  const id = await addRecording(sql);
  const user = await newUser(gateway);
  const keyed = clientWith(gateway, await issueKey(sql, user));
  /** Expects the same state of the sound in its detail, in a batch and for a play. */
  async function expectState(isLocked: boolean, app: typeof keyed, end: string | null) {
    const { data } = (await app.get(`/sounds/${id}`).expect(200)).body;
    const [file] = (
      await app
        .post('/sounds/files')
        .send({ ids: [id] })
        .expect(200)
    ).body.data;
    await app.post(`/sounds/${id}/play`).expect(isLocked ? 404 : 200);
    await app.head(`/sounds/${id}`).expect(200);
    expect(data, String(end)).toMatchObject({ is_premium: true, is_locked: isLocked });
    expect(file).toEqual({
      id,
      audio: isLocked ? null : expect.any(Object),
      cover: expect.any(Object),
      is_locked: isLocked,
    });
    expect(await contentOf(data.cover_image_url)).toBe('a cover');
    if (isLocked) expect(data.audio_url).toBeNull();
    else expect([await contentOf(data.audio_url), await contentOf(file.audio.url)]).toEqual([content, content]);
  }
  for (const [end, isLocked] of [
    [null, true],
    [inSeconds(3600), false],
    [inSeconds(-0.001), true],
    ['infinity', false],
    [null, true],
    ['12000-01-01', false],
    ['1970-01-01Z', true],
  ] as const) {
    await setEnd(sql, user, end);
    await expectState(isLocked, user.app, end);
    await expectState(isLocked, keyed, end);
  }
  await user.app.post('/favorites').send({ sound_id: id }).expect(201);
});

test('locks, the customer and the export count the later end of bought and given premium', async ({ gateway, sql }) => {
  const id = await addRecording(sql);
  const user = await newUser(gateway);
  const [over, month, year] = [inSeconds(-60), inSeconds(30 * 86_400), inSeconds(365 * 86_400)];
  for (const [bought, given, later] of [
    [month, year, year],
    [year, month, year],
    [over, month, month],
    [null, month, month],
    [month, null, month],
    [over, null, over],
    [null, null, null],
    ['infinity', over, '9999-12-31T23:59:59.999Z'],
  ] as const) {
    await setEnd(sql, user, given);
    await sql`select public.set_premium(${user.user.id}, ${bought}::text::timestamptz)`;
    const { data: customer } = (await user.app.get('/me/customer').expect(200)).body;
    const { is_locked } = (await user.app.get(`/sounds/${id}`).expect(200)).body.data;
    expect(customer.premium_until, `${bought}, ${given}`).toBe(later);
    expect(is_locked, `${bought}, ${given}`).toBe(later === null || later === over);
  }
  const { customer } = (await user.app.get('/me/export').expect(200)).body.data;
  expect(customer.premium_until).toBe('9999-12-31T23:59:59.999Z');
});

test('a premium sound is locked for an account without a customer', async ({ gateway, sql, skip }) => {
  const id = await addRecording(sql);
  const claims = {
    sub: randomUUID(),
    aud: 'authenticated',
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 600,
  };
  const app = clientWith(gateway, await forge(skip, claims));
  expect((await app.get(`/sounds/${id}`)).body.data).toMatchObject({ is_locked: true, audio_url: null });
});

test('GET /me/customer shows premium_until, and the customer cannot change it', async ({ gateway, sql }) => {
  const user = await newUser(gateway);
  const end = async () => (await user.app.get('/me/customer').expect(200)).body.data.premium_until;
  expect(await end()).toBeNull();
  for (const [value, shown] of [
    ['2031-05-06 07:08:09.123456+02', '2031-05-06T05:08:09.123Z'],
    ['infinity', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31 23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
    ['20000-01-01', '9999-12-31T23:59:59.999Z'],
  ] as const) {
    await setEnd(sql, user, value);
    expect(await end(), value).toBe(shown);
  }
  await setEnd(sql, user, null);
  const { headers } = await user.app
    .patch('/me/customer')
    .send({ premium_until: inSeconds(60) })
    .expect(400);
  expect(headers['x-error-field']).toBe('premium_until');
  await rest(user.access_token, 'POST', 'rpc/update_customer', { changes: { premium_until: 'infinity' } });
  for (const column of ['premium_until', 'premium_as_of', 'premium_given_until']) {
    const change = { [column]: '2099-01-01' };
    const { status } = await rest(user.access_token, 'PATCH', `customers?id=eq.${user.user.id}`, change);
    expect(status, column).toBe(403);
  }
  for (const caller of [user.access_token, null]) {
    const args = { customer_id: user.user.id, premium_until: 'infinity' };
    expect([401, 403]).toContain((await rest(caller, 'POST', 'rpc/set_premium', args)).status);
  }
  expect(await end()).toBeNull();
});

describe('POST /plays', () => {
  test('counts plays of a premium sound that were made before premium ended', async ({ gateway, sql }) => {
    const sound_id = await addRecording(sql);
    const user = await newUser(gateway);
    await setEnd(sql, user, inSeconds(-60));
    const plays = [-3600, -61, -59, 0].map((seconds) => ({
      id: randomUUID(),
      sound_id,
      played_at: inSeconds(seconds),
    }));
    const statuses = async () =>
      (await user.app.post('/plays').send({ plays }).expect(200)).body.data.map(
        (play: { status: string }) => play.status,
      );
    expect(await statuses()).toEqual(['counted', 'counted', 'not_found', 'not_found']);
    await setEnd(sql, user, 'infinity');
    expect(await statuses()).toEqual(['duplicate', 'duplicate', 'counted', 'counted']);
  });
});

/** Sends all requests by which a user could find the audio of a sound. Returns the responses by request. */
async function tryEverything(
  { access_token: token, app }: Session & Pick<Awaited<ReturnType<typeof newUser>>, 'app'>,
  id: string,
) {
  const data = async (address: string, body?: object) =>
    JSON.stringify((await rest(token, body ? 'POST' : 'GET', address, body)).body);
  const gateway = async (address: string) => (await app.get(address)).text;
  const tries: Record<string, string> = {};
  for (const address of [
    `/sounds/${id}`,
    `/sounds/${id.toUpperCase()}?is_locked=false&premium_until=infinity`,
    `/sounds?ids=${id}`,
    '/home',
    '/favorites',
    '/history',
    '/progress',
    '/me/export',
    '/catalogue/changes',
  ])
    tries[`GET ${address}`] = await gateway(address);
  const ids = [id];
  tries['POST /sounds/files'] = (await app.post('/sounds/files').send({ ids })).text;
  for (const address of [
    `sounds?select=*,favorites(*),home_section_sounds(*)&id=eq.${id}`,
    'favorites?select=*,sounds(*)',
    'home_section_sounds?select=*,sounds(*)',
    'customers?select=*',
    `rpc/get_sound?sound=${id}`,
    `rpc/list_sound_files?wanted=${JSON.stringify({ ids })}`,
    'rpc/export_account',
    'rpc/list_catalogue_changes',
  ])
    tries[`data API ${address}`] = await data(address);
  tries['data API POST rpc/get_sound'] = await data('rpc/get_sound', { sound: id });
  tries['data API POST rpc/list_sound_files'] = await data('rpc/list_sound_files', { wanted: { ids } });
  return tries;
}

test('no request of a user without premium leads to the audio of a premium sound', async ({ gateway, sql }) => {
  const id = await addRecording(sql);
  await addSectionOf(sql, id);
  const user = await newUser(gateway);
  await user.app.post('/favorites').send({ sound_id: id }).expect(201);
  const addresses = /object\/sign\/audio[^"]*token=/;
  const namesOf = (tries: Record<string, string>) =>
    Object.keys(tries).filter((name) => addresses.test(tries[name] as string));
  expect(namesOf(await tryEverything(user, id))).toEqual([]);
  await setEnd(sql, user, inSeconds(3600));
  const found = namesOf(await tryEverything(user, id));
  expect(found).toEqual([`GET /sounds/${id}`, expect.stringContaining('is_locked=false'), 'POST /sounds/files']);
});

test('premium changes no list, and nothing of a free sound', async ({ gateway, sql }) => {
  const [member, other] = [await newUser(gateway), await newUser(gateway)];
  await setEnd(sql, member, 'infinity');
  const [feed] = await sql`
    select feed.id || '.' || coalesce(max(number), 0) as since from private.catalogue_feed as feed
      left join private.catalogue_changes on true group by feed.id`;
  const [free, premium] = [await addRecording(sql, false), await addRecording(sql)];
  const slug = await addSectionOf(sql, free, premium);
  /** Returns the parts of a response that are these objects, because other tests change the catalogue. */
  const partsOf = (value: unknown, names: readonly string[]): unknown[] => {
    if (typeof value !== 'object' || value === null) return [];
    const { id, slug } = value as { id?: string; slug?: string };
    const isNamed = [id, slug].some((name) => name !== undefined && names.includes(name));
    return isNamed ? [value] : Object.values(value).flatMap((part) => partsOf(part, names));
  };
  for (const [path, names] of [
    ['/home', [slug]], // other sections may show the sounds, too
    [`/catalogue/changes?since=${feed?.['since']}`, [free, premium, slug]],
    [`/sounds?ids=${free},${premium}`, [free, premium]],
    [`/sounds/${free}`, [free]],
  ] as const) {
    const read = async ({ app }: typeof member) =>
      partsOf((await app.get(path).expect(200)).body, names).map((part) =>
        JSON.stringify(part).replaceAll(/token=[^"]+/g, ''),
      );
    // The feed waits for transactions of other tests that began before.
    await expect.poll(() => read(member), { message: path }).toHaveLength(names.length);
    expect(await read(member), path).toEqual(await read(other));
  }
  expect((await other.app.get(`/sounds/${free}`)).body.data).toMatchObject({ is_premium: false, is_locked: false });
});
