import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { canRunBrowser, inBrowser } from '../support/browser.ts';
import { addCategory, addSection, addSound } from '../support/catalogue.ts';
import { newEmail, password, test } from '../support/test.ts';

// Keys come in the order of the contract's tables, so that a person can read an answer.

/** The keys of an object, or of each object in a list; where one holds objects in turn, with theirs. */
type Keys = (string | { [key: string]: Keys })[];

const user = ['id', 'email'];
const refreshed = ['access_token', 'refresh_token', 'token_type', 'expires_at', 'expires_in'];
const session = [...refreshed, { user }];
const sound =
  `id title description bowl_note frequency_hz duration_sec category tags cover_image_url is_featured play_count
  created_at`.split(/\s+/);
const soundDetail = [...sound, 'audio_url', 'audio_url_expires_in'];
const sounds = ['id', 'title', 'category', 'cover_image_url', 'duration_sec'];
const favorite = ['sound_id', 'created_at', { sounds }];
const profile = ['id', 'email', 'full_name', 'avatar_url'];
const customer =
  `id email full_name avatar_url phone provider source locale country marketing_opt_in is_active last_seen_at
  created_at updated_at`.split(/\s+/);
const section = `id slug title mode rule_type rule_value rule_include_children`.split(' ');
const children = ['id', 'name', 'slug', 'description', 'sort_order'];

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** The first of a list stands for all; rather one whose own lists are not empty. */
const sampleOf = (list: object[]) =>
  list.find((item) => !Object.values(item).some(isEmptyList)) ?? list[0] ?? {};

function keysOf(value: object): Keys {
  return Object.entries(Array.isArray(value) ? sampleOf(value) : value).map(([key, field]) => {
    const isNested = typeof (Array.isArray(field) ? field[0] : field) === 'object' && field !== null;
    return isNested ? { [key]: keysOf(field) } : key;
  });
}

async function answerTo(url: string, endpoint: string, token?: string, body?: object): Promise<Keys> {
  const [method = '', path = ''] = endpoint.split(' ');
  const response = await fetch(url + path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return keysOf((await response.json()) as object);
}

test('what needs no token answers with its keys in the order of the contract', async ({ gateway, user }) => {
  const { email } = user.user;
  for (const [endpoint, body, expected] of [
    ['POST /auth/signup', { email: newEmail(), password }, [{ data: session }]],
    ['POST /auth/signin', { email, password }, [{ data: session }]],
    ['POST /auth/refresh', { refresh_token: user.refresh_token }, [{ data: refreshed }]],
    ['POST /auth/signin', {}, [{ error: ['code', 'message'] }]],
  ] as const) {
    expect(await answerTo(gateway.url, endpoint, undefined, body), endpoint).toEqual(expected);
  }
});

describe('every other endpoint answers with its keys in the order of the contract', () => {
  test.for(['a user', 'an API key'])('%s', async (caller, { gateway, sql, user }) => {
    const token =
      caller === 'a user'
        ? user.access_token
        : (await sql`select api_key from admin.create_api_key('Keys', ${user.user.email})`)[0]?.['api_key'];
    const category = await addCategory(sql);
    await addCategory(sql, { parent: category });
    const id = await addSound(sql, { category, is_featured: true });
    await addSection(sql, { mode: 'rule', rule_type: 'featured' });

    for (const [endpoint, expected, body] of [
      ['POST /favorites', [{ data: ['ok'] }], { sound_id: id }],
      ['GET /favorites', [{ data: favorite }]],
      ['GET /sounds', [{ data: sound }, 'next_cursor']],
      [`GET /sounds/${id}`, [{ data: soundDetail }]],
      [`POST /sounds/${id}/play`, [{ data: ['id', 'play_count'] }]],
      ['GET /home', [{ sections: [...section, { sounds }] }]],
      ['GET /categories', [{ data: [...children, { children }] }]],
      ['GET /me', [{ data: profile }, 'auth_via']],
      ['GET /me/customer', [{ data: customer }, 'auth_via']],
      ['PATCH /me/customer', [{ data: customer }], { country: 'DE' }],
    ] as const) {
      expect(await answerTo(gateway.url, endpoint, token, body), endpoint).toEqual(expected);
    }
  });
});

test('the document shows them in that order', async () => {
  const { schemas } = JSON.parse(await readFile('openapi.json', 'utf8')).components;
  const names = (keys: Keys) => keys.map((key) => (typeof key === 'string' ? key : Object.keys(key)[0]));
  for (const [noun, keys] of Object.entries<Keys>({
    Session: session,
    SignedUp: [...refreshed, 'needs_email_confirmation', 'user'],
    RefreshedSession: refreshed,
    User: user,
    Sound: sound,
    SoundDetail: soundDetail,
    SoundPreview: sounds,
    Favorite: favorite,
    Profile: profile,
    Customer: customer,
    HomeSection: [...section, 'sounds'],
    Category: [...children, 'children'],
    SubCategory: children,
    ApiErrorResponse: ['error'],
    ApiError: ['code', 'message'],
    SoundListResponse: ['data', 'next_cursor'],
  })) {
    expect(Object.keys(schemas[noun].properties), noun).toEqual(names(keys));
  }
});

test('the reference shows them in that order', async ({ gateway, skip }) => {
  skip(!canRunBrowser, 'Install chromium to open the reference.');
  await inBrowser(`${gateway.url}/docs`, { width: 1280, colorScheme: 'light' }, async (page) => {
    await page.getByRole('link', { name: 'Caller customer record HTTP Method' }).click();
    const section = page.getByRole('region', { name: 'Caller customer record', exact: true });
    await section.getByRole('button', { name: /^200/ }).first().click();
    await section.getByText('id, email, full_name').click();
    const names = section.locator('.property-name');
    await names.getByText('updated_at').waitFor();
    const shown = await names.allInnerTexts();
    expect(shown.filter((name) => customer.includes(name))).toEqual(customer);
  });
});
