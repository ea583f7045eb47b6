import { randomUUID } from 'node:crypto';
import { newEmail, password } from '../support/test.ts';
import type { Target } from './target.ts';

export type Request = { query?: string; headers?: Record<string, string>; body?: object; token?: string };

export type Row = {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  guard: 'none' | 'optional' | 'bearer' | 'user';
  status: 200 | 201;
  /** A good request; null where this deployment offers no way to make one. */
  valid: (target: Target) => Request | Promise<Request> | null;
  /** The remedy to print when there is no valid request. */
  remedy?: 'recoveryCode';
  /** Requests that must get 400, by the field in X-Error-Field. */
  invalid?: Record<string, Request[]>;
};

const withQuery = (query: string): Request => ({ query });

const withBody = (body: object): Request => ({ body });

/** A cursor of the history, with this in it. */
const encoded = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`;

/** A cursor of an order of sounds, with this in it. */
const cursorOf = (...position: unknown[]) =>
  `cursor=${Buffer.from(JSON.stringify(position)).toString('hex')}`;

const playOf = (sound_id: string) => ({ id: randomUUID(), sound_id, played_at: new Date().toISOString() });

export const table: Row[] = [
  { method: 'get', path: '/config', guard: 'none', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/auth/signup',
    guard: 'none',
    status: 200,
    valid: () => ({ body: { email: newEmail(), password, full_name: 'Ada' } }),
    invalid: {
      email: [
        { password },
        { email: 'x', password },
        { email: `${'a'.repeat(243)}@example.com`, password },
      ].map(withBody),
      password: [undefined, '12345', `${'é'.repeat(36)}x`, 'secret\0secret', 12345678].map((password) => ({
        body: { email: newEmail(), password },
      })),
      full_name: [5, '   ', 'x'.repeat(201), 'a\ud800'].map((full_name) => ({
        body: { email: newEmail(), password, full_name },
      })),
    },
  },
  {
    method: 'post',
    path: '/auth/signin',
    guard: 'none',
    status: 200,
    valid: (target) => ({ body: target.account }),
    invalid: {
      email: [{}, { password }, { email: 'x', password }, { email: 1, password: 2 }].map(withBody),
      password: [{ email: newEmail() }, { email: newEmail(), password: null }].map(withBody),
    },
  },
  {
    method: 'post',
    path: '/auth/refresh',
    guard: 'none',
    status: 200,
    valid: async (target) => ({ body: { refresh_token: (await target.signIn('owner')).refresh_token } }),
    invalid: {
      refresh_token: [undefined, '', null, 5, 'x'.repeat(4097)].map((refresh_token) => ({
        body: { refresh_token },
      })),
    },
  },
  {
    method: 'post',
    path: '/auth/signout',
    guard: 'user',
    status: 200,
    valid: async (target) => ({ token: (await target.signIn('owner')).access_token }),
  },
  ...(['idp', 'google', 'apple'] as const).map(
    (name): Row => ({
      method: 'post',
      path: `/auth/oauth/${name}`,
      guard: 'none',
      status: 200,
      valid: (target) => {
        const token = target.idToken?.(name === 'apple' ? 'apple' : 'google');
        return token ? token.then((id_token) => ({ body: { id_token } })) : null;
      },
      invalid: {
        id_token: [{}, { id_token: '' }].map(withBody),
        nonce: [{ body: { id_token: 'x', nonce: 5 } }],
      },
    }),
  ),
  ...(['/auth/recover', '/auth/resend'] as const).map(
    (path): Row => ({
      method: 'post',
      path,
      guard: 'none',
      status: 200,
      valid: () => ({ body: { email: newEmail() } }),
      invalid: { email: [{}, { email: 'x' }, { email: 5 }].map(withBody) },
    }),
  ),
  {
    method: 'post',
    path: '/auth/verify',
    guard: 'none',
    status: 200,
    remedy: 'recoveryCode',
    valid: ({ newAccount, recoveryCode }) =>
      recoveryCode &&
      (async () => {
        const { email } = (await newAccount()).user;
        return { body: { type: 'recovery', email, code: await recoveryCode(email) } };
      })(),
    invalid: {
      type: [{ body: { type: 'invite', email: newEmail(), code: '123456' } }],
      email: [{ body: { type: 'recovery', email: 'x', code: '123456' } }],
      code: [undefined, '12345', 'abcdef'].map((code) => ({
        body: { type: 'recovery', email: newEmail(), code },
      })),
      password: [{ body: { type: 'signup', email: newEmail(), code: '123456' } }],
    },
  },
  {
    method: 'post',
    path: '/auth/password',
    guard: 'user',
    status: 200,
    valid: async ({ newAccount }) => ({
      token: (await newAccount()).access_token,
      body: { password: `${password}, another` },
    }),
    invalid: {
      password: [{}, { password: '12345' }, { password: 'x'.repeat(73) }].map(withBody),
      current_password: [{ body: { password, current_password: 5 } }],
    },
  },
  {
    method: 'get',
    path: '/sounds',
    guard: 'bearer',
    status: 200,
    valid: () => withQuery('limit=2&featured=false&include_children=true&search=a'),
    invalid: {
      limit: [
        'limit=0',
        'limit=101',
        'limit=-1',
        'limit=1.5',
        'limit=abc',
        'limit=',
        'limit=1&limit=2',
        `${'a&'.repeat(1000)}limit=0`,
      ].map(withQuery),
      featured: ['featured=yes', 'featured=1', 'featured='].map(withQuery),
      include_children: ['include_children=1'].map(withQuery),
      category: ['category=a&category=b'].map(withQuery),
      search: [`search=${'x'.repeat(101)}`, 'search=%00'].map(withQuery),
      q: [`q=${'x'.repeat(101)}`, 'q=a&q=b', 'q=a&sort=title', 'q=a&cursor=2024-01-01T00:00:00Z'].map(
        withQuery,
      ),
      tag: ['tag=', `tag=${'x'.repeat(101)}`, 'tag=a&'.repeat(11), 'tag=%00'].map(withQuery),
      min_duration: ['-1', '86401', 'a', '', '1e3', '1&min_duration=2'].map((value) =>
        withQuery(`min_duration=${value}`),
      ),
      max_duration: ['max_duration=Infinity'].map(withQuery),
      sort: ['plays', 'title&sort=title', ''].map((value) => withQuery(`sort=${value}`)),
      ids: [
        '',
        'a',
        `${randomUUID()},`,
        Array.from({ length: 101 }, () => randomUUID()).join(),
        `${randomUUID()}&limit=5`,
        `${randomUUID()}&q=rain`,
      ].map((value) => withQuery(`ids=${value}`)),
      cursor: [
        'cursor=yesterday',
        'cursor=',
        'cursor=2024-13-01T00:00:00Z',
        'cursor=2023-02-29T00:00:00Z',
        'cursor=2024-01-01',
        'cursor=1969-12-31T23:59:59Z',
        'cursor=9999-12-31T23:59:59-01:00',
        'cursor=2024-01-01T00:00:00Z&cursor=2024-01-01T00:00:00Z',
        'cursor=infinity',
        'cursor=2026-06T10:00Z',
        'cursor=2026T10:00Z',
        'cursor=2026-W26-2T10:00Z',
        'cursor=20260623T1000Z',
        'cursor=2026-06-23T10:00:00.Z',
        'cursor=2026-06-23T10:00:00%2B',
        'cursor=2026-06-31T10:00:00Z',
        'cursor=2026-06-23T10:00%2B25:00',
        'cursor=2026-06-23T10:00-02:75',
        'cursor=2026-06-23T10:00%2B0260',
        'sort=title&cursor=2024-01-01T00:00:00Z',
        cursorOf('title', 'a', '2024-01-01T00:00:00Z', null),
        `sort=popular&${cursorOf('popular', '1; drop', '2024-01-01T00:00:00Z', null)}`,
        `sort=title&${cursorOf('title', 'a\0', '2024-01-01T00:00:00Z', null)}`,
        `sort=newest&${cursorOf('newest', 'a', 'a day', null)}`,
        `sort=newest&${cursorOf('newest')}`,
        `sort=newest&${cursorOf('title', 'a', '2024-01-01T00:00:00Z', null)}`,
        ...['f'.repeat(40), 'f'.repeat(41), '7'.repeat(40)].map((cursor) => `sort=title&cursor=${cursor}`),
      ].map(withQuery),
    },
  },
  {
    method: 'post',
    path: '/sounds/files',
    guard: 'bearer',
    status: 200,
    valid: (target) => ({ body: { ids: [target.soundId] } }),
    invalid: {
      ids: [undefined, null, 'a', [], ['a'], [5], Array.from({ length: 51 }, () => randomUUID())].map((ids) =>
        withBody({ ids }),
      ),
    },
  },
  {
    method: 'get',
    path: '/catalogue/changes',
    guard: 'bearer',
    status: 200,
    valid: () => ({}),
    invalid: {
      since: [
        '',
        'a',
        '12345678',
        '12345678.',
        '12345678.-1',
        '12345678.1.2.3',
        'g2345678.1',
        '12345678.1&since=12345678.1',
      ].map((value) => withQuery(`since=${value}`)),
    },
  },
  { method: 'get', path: '/sounds/{id}', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/sounds/{id}/play',
    guard: 'bearer',
    status: 200,
    valid: () => ({ headers: { 'Idempotency-Key': randomUUID() } }),
    invalid: {
      'Idempotency-Key': ['', '""', 'two words', '"two words"', 'tab\there', 'x'.repeat(256)].map((key) => ({
        headers: { 'Idempotency-Key': key },
      })),
    },
  },
  {
    method: 'post',
    path: '/plays',
    guard: 'bearer',
    status: 200,
    valid: ({ soundId }) => ({ body: { plays: [playOf(soundId)] } }),
    invalid: {
      plays: [
        {},
        { plays: null },
        { plays: [] },
        { plays: [null] },
        { plays: [{ ...playOf(randomUUID()), id: 'x' }] },
        { plays: [{ ...playOf(randomUUID()), played_at: 'yesterday' }] },
        { plays: Array.from({ length: 101 }, () => playOf(randomUUID())) },
      ].map(withBody),
    },
  },
  {
    method: 'get',
    path: '/history',
    guard: 'bearer',
    status: 200,
    valid: () => withQuery('limit=2'),
    invalid: {
      limit: ['limit=0', 'limit=101'].map(withQuery),
      cursor: [
        'cursor=x',
        'cursor=',
        'cursor=2026-06-23T09:30:00.000Z',
        encoded('2026-06-23T09:30:00.000Z'),
        encoded(`2026-06-23T09:30:00.000Z ${randomUUID()} more`),
        encoded(`infinity ${randomUUID()}`),
        encoded('2026-06-23T09:30:00.000Z 1'),
        encoded(`0000-01-01T00:00:00.000Z ${randomUUID()}`),
        `cursor=${'x'.repeat(201)}`,
      ].map(withQuery),
    },
  },
  { method: 'delete', path: '/history/{soundId}', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'delete', path: '/history', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/favorites', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'post',
    path: '/favorites',
    guard: 'bearer',
    status: 201,
    valid: (target) => ({ body: { sound_id: target.soundId } }),
    invalid: {
      sound_id: [undefined, null, 'x', 5, [randomUUID()]].map((sound_id) => ({ body: { sound_id } })),
    },
  },
  { method: 'delete', path: '/favorites/{soundId}', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/me', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'delete',
    path: '/me',
    guard: 'user',
    status: 200,
    valid: async ({ newAccount }) => ({ token: (await newAccount()).access_token }),
  },
  { method: 'get', path: '/me/export', guard: 'user', status: 200, valid: () => ({}) },
  { method: 'get', path: '/me/customer', guard: 'bearer', status: 200, valid: () => ({}) },
  {
    method: 'patch',
    path: '/me/customer',
    guard: 'bearer',
    status: 200,
    valid: () => ({ body: { full_name: 'Ada', marketing_opt_in: false } }),
    invalid: {
      email: [{ body: { email: newEmail() } }],
      provider: [{ body: { provider: 'google' } }],
      source: [{ body: { source: 'google' } }],
      id: [{ body: { id: randomUUID() } }],
      is_active: [{ body: { is_active: false } }],
      last_seen_at: [{ body: { last_seen_at: null } }],
      updated_at: [{ body: { updated_at: null } }],
      full_name: ['', '   ', '\u200b\ufeff\u2063', 'x'.repeat(201), 5, 'a\0b', '\ud800'].map((full_name) =>
        withBody({ full_name }),
      ),
      avatar_url: ['http://a.example/x.png', `https://a.example/${'x'.repeat(2048)}`].map((avatar_url) =>
        withBody({ avatar_url }),
      ),
      phone: ['0170 1234567', '+49', '+0123456789', '+1234567890123456', '+49 170 CALLME'].map((phone) =>
        withBody({ phone }),
      ),
      locale: ['not a locale', 'x', 'de__DE', `de-x-${'abcdefgh-'.repeat(5)}a`].map((locale) =>
        withBody({ locale }),
      ),
      country: ['XX', 'UK', 'Germany', 'ß', 'ﬁ'].map((country) => withBody({ country })),
      marketing_opt_in: [null, 'true', 1].map((marketing_opt_in) => withBody({ marketing_opt_in })),
    },
  },
  { method: 'get', path: '/home', guard: 'bearer', status: 200, valid: () => ({}) },
  { method: 'get', path: '/categories', guard: 'optional', status: 200, valid: () => ({}) },
];
