import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { endpoints } from '../../src/app.ts';
import type { Endpoint } from '../../src/endpoint.ts';
import { newEmail, password, type Session } from '../support/test.ts';
import type { Target } from './target.ts';

interface Sent {
  id: string;
  query: string;
  headers: Record<string, string>;
  body: object | undefined;
  token: string;
}
export type Request = Partial<Sent>;

interface Row {
  /** Valid body, in which a test replaces one field. */
  body?: object;
  /** Makes a valid request. Default: the body. Returns null if the deployment offers no way to make one. */
  valid?: (target: Target) => Request | null | Promise<Request | null>;
  /** Remedy to print if there is no valid request. */
  remedy?: 'recoveryCode' | 'newAccount' | 'appleCode' | 'guests';
  /** Values that get 400, by field. They are not encoded in a query, so that `1&limit=2` repeats the limit. */
  invalid?: Record<string, unknown[]>;
}

/** Returns a cursor with this content for a list of sounds. */
const cursorOf = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('hex');

/** Returns queries with this order and a cursor for each position. */
const inOrder = (sort: string, ...positions: unknown[]) =>
  positions.map((position) => `${cursorOf(position)}&sort=${sort}`);

const words = (text: string) => text.split(' ');

/** Returns a cursor with this content for the history. */
const encoded = (text: string) => Buffer.from(text).toString('base64url');

const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const playOf = (sound_id: string) => ({ id: randomUUID(), sound_id, played_at: new Date().toISOString() });
const progressOf = (sound_id: string, position_sec: unknown = 5) => ({
  ...{ sound_id, position_sec },
  updated_at: new Date().toISOString(),
});
const itemOf = (sound_id: string, volume: unknown = null) => ({ sound_id, volume });
const listOf = (items: unknown) => ({ id: randomUUID(), name: 'Night', is_mix: false, items, version: 0 });
const noMoments = [...words('10000-01-01T00:00:00Z 2026-02-30T00:00:00Z 2026-06-23T09:30'), 1e9, undefined];
const moment = '2024-01-01T00:00:00Z';
const id = randomUUID();

const idTokenRow = (provider: 'google' | 'apple'): Row => ({
  body: { id_token: 'x' },
  valid: ({ idToken }) => idToken?.(provider).then((id_token) => ({ body: { id_token } })) ?? null,
  invalid: { id_token: [undefined, ''], nonce: [5] },
});

/** Makes a request with a new account, if the deployment gives it a session. */
const ofNewAccount =
  (request: (session: Session) => Request): NonNullable<Row['valid']> =>
  async ({ newAccount }) => {
    const session = await newAccount();
    return session && request(session);
  };
const mailRow: Row = { body: { email: newEmail() }, invalid: { email: [undefined, 'x', 5] } };

/** Requests of each operation. An endpoint without a row has no parameters that can be invalid. */
const rows: Record<string, Row> = {
  signUp: {
    body: { email: newEmail(), password, full_name: 'Ada' },
    valid: () => ({ body: { email: newEmail(), password, full_name: 'Ada' } }),
    invalid: {
      email: [undefined, 'x', `${'a'.repeat(243)}@example.com`],
      password: [undefined, '12345', `${'é'.repeat(36)}x`, 'secret\0secret', 12345678],
      full_name: [5, '   ', 'x'.repeat(201), 'a\ud800'],
    },
  },
  signIn: {
    body: { email: newEmail(), password },
    valid: ({ account }) => ({ body: account }),
    invalid: { email: [undefined, 'x', 1], password: [undefined, null] },
  },
  refresh: {
    valid: async ({ signIn }) => ({ body: { refresh_token: (await signIn('owner')).refresh_token } }),
    invalid: { refresh_token: [undefined, '', null, 5, 'x'.repeat(4097)] },
  },
  signOut: { valid: async ({ signIn }) => ({ token: (await signIn('owner')).access_token }) },
  exchangeIdToken: idTokenRow('google'),
  exchangeGoogleIdToken: idTokenRow('google'),
  exchangeAppleIdToken: idTokenRow('apple'),
  recover: mailRow,
  resend: mailRow,
  verify: {
    body: { type: 'signup', email: newEmail(), code: '123456', password },
    remedy: 'recoveryCode',
    valid: async ({ newAccount, recoveryCode }) => {
      const email = recoveryCode && (await newAccount())?.user.email;
      return email ? { body: { type: 'recovery', email, code: await recoveryCode(email) } } : null;
    },
    invalid: {
      ...{ type: ['invite'], email: ['x'], code: [undefined, '12345', 'abcdef'], full_name: [' '] },
      password: [undefined, '12345', `${'é'.repeat(36)}x`],
    },
  },
  changePassword: {
    body: { password },
    remedy: 'newAccount',
    valid: ofNewAccount(({ access_token: token }) => ({ token, body: { password: `${password}, another` } })),
    invalid: { password: [undefined, '12345', 'x'.repeat(73)], current_password: [5] },
  },
  listSounds: {
    valid: () => ({ query: 'limit=2&featured=false&include_children=true&search=a' }),
    invalid: {
      limit: ['0', '101', '-1', '1.5', '10.01', 'abc', '1&limit=2'],
      featured: ['yes', '1', 'true&featured=true'],
      include_children: ['1'],
      category: ['a&category=b'],
      search: ['x'.repeat(101), '%00'],
      q: ['x'.repeat(101), '%F0%9F%8C%8A'.repeat(101), 'a&q=b', 'a&sort=title', `a&cursor=${moment}`],
      tag: ['x'.repeat(101), 'a&tag=a'.repeat(11), '%00'],
      min_duration: ['-1', '86401', 'a', '1e3', '1&min_duration=2'],
      max_duration: ['Infinity'],
      sort: ['plays', 'title&sort=title'],
      ids: ['a', `${id},`, ids(101).join(), `${id}&limit=5`, `${id}&q=rain`],
      cursor: [
        ...words('%00 -1 1e400 yesterday infinity 2024-01-01 2024-13-01T00:00:00Z 2023-02-29T00:00:00Z'),
        ...words('2026-06T10:00Z 20260623T1000Z 2026-06-23T10:00:00.Z 2026-06-23T10:00:00%2B'),
        ...words('2026-06-23T10:00%2B25:00 2026-06-23T10:00-02:75'),
        ...words('1969-12-31T23:59:59Z 9999-12-31T23:59:59-01:00 10000-01-01T00:00:00Z'),
        ...['x'.repeat(5000), `${moment}&cursor=${moment}`, `${moment}&sort=title`],
        cursorOf(['title', 'a', moment]), // without sort=title
        ...['f'.repeat(40), 'f'.repeat(41), '7'.repeat(40), '0'.repeat(4002)].map((hex) => `${hex}&sort=title`),
        ...inOrder('title', ['title', 'a\0', moment], ['newest', 'a', moment]),
        ...inOrder('newest', ['newest', 'a', 'a day']),
        ...inOrder('popular', 'no list', [], ['popular'], ['popular', '1'], ['title', 'Rain', moment]),
        ...inOrder('popular', ...words('-1 1.5 9999999999999999999').map((n) => ['popular', n, moment])),
        ...inOrder('popular', ...words('yesterdays 999999-01-01T00:00Z').map((at) => ['popular', '1', at])),
      ],
    },
  },
  signSoundFiles: {
    valid: ({ soundId }) => ({ body: { ids: [soundId] } }),
    invalid: { ids: [undefined, null, 'a', [], ['a'], [5], ids(51)] },
  },
  listCatalogueChanges: {
    invalid: {
      since: [
        ...words('%00 a 12345678 12345678. 12345678.-1 12345678.1.2.3 12345678.1e3 g2345678.1'),
        ...words('9F86D081.1 12345678.٣ 12345678.1&since=12345678.1'),
        ...[`12345678.${'9'.repeat(19)}`, 'x'.repeat(5000)],
      ],
    },
  },
  countPlay: {
    valid: () => ({ headers: { 'Idempotency-Key': randomUUID() } }),
    invalid: { 'Idempotency-Key': ['', '""', 'two words', '"two words"', 'tab\there', 'x'.repeat(256)] },
  },
  countPlays: {
    valid: ({ soundId }) => ({ body: { plays: [playOf(soundId)] } }),
    invalid: {
      plays: [
        ...[undefined, null, [], [null], ids(101).map(playOf), [{ ...playOf(id), id: 'x' }]],
        ...noMoments.map((played_at) => [playOf(id), { ...playOf(id), played_at }]),
      ],
    },
  },
  listHistory: {
    valid: () => ({ query: 'limit=2' }),
    invalid: {
      limit: ['0', '101'],
      cursor: [
        ...['x', 'AAAA', '%00', 'x'.repeat(201), '2026-06-23T09:30:00.000Z'],
        ...[moment, `${moment} ${id} more`, `infinity ${id}`, `${moment} 1`].map(encoded),
      ],
    },
  },
  saveProgress: {
    valid: ({ soundId }) => ({ body: { entries: [progressOf(soundId)] } }),
    invalid: {
      entries: [
        ...[undefined, null, [], [null], ids(101).map((each) => progressOf(each)), [progressOf('x')]],
        ...[-1, 86_401, '5', { sound_id: id }].map((wrong) => [progressOf(id), progressOf(id, wrong)]),
        [progressOf(id), { sound_id: id, updated_at: moment }],
        ...noMoments.map((updated_at) => [progressOf(id), { ...progressOf(id), updated_at }]),
      ],
    },
  },
  saveLists: {
    valid: ({ soundId }) => ({ body: { lists: [listOf([itemOf(soundId)])] } }),
    invalid: {
      lists: [
        ...[undefined, null, [], [null], ids(21).map(() => listOf([])), [listOf([]), { ...listOf([]), id: 'x' }]],
        ...['', ' ', 'x'.repeat(101), 'a\tb', 'a\nb', 'a\u007f', 'a\u2028b', 5].map((name) => [
          { ...listOf([]), name },
        ]),
        ...[undefined, 'true', null].map((is_mix) => [{ ...listOf([]), is_mix }]),
        ...[-1, 0.5, '1', 2 ** 31, null, undefined].map((version) => [{ ...listOf([]), version }]),
        ...[undefined, {}, [5], [{}], [itemOf('x')], ids(201).map((each) => itemOf(each))].map((items) => [
          listOf(items),
        ]),
        ...[-0.1, 1.1, '1', 'loud'].map((volume) => [listOf([itemOf(id, volume)])]),
        ...[[itemOf(id), itemOf(id.toUpperCase(), 1)], [{ ...itemOf(id), pan: 1 }]].map((items) => [listOf(items)]),
        [{ ...listOf(ids(21).map((each) => itemOf(each))), is_mix: true }],
        ids(6).map(() => listOf(ids(167).map((each) => itemOf(each)))),
      ],
    },
  },
  addFavorite: {
    valid: ({ soundId }) => ({ body: { sound_id: soundId } }),
    invalid: { sound_id: [undefined, null, 'x', 5, [id]] },
  },
  startAsGuest: {
    remedy: 'guests',
    valid: async ({ newGuest }) => ((await newGuest()) === null ? null : {}),
  },
  adoptGuest: {
    body: { access_token: 'x' },
    remedy: 'guests',
    valid: async ({ newGuest }) => {
      const guest = await newGuest();
      return guest && { body: { access_token: guest.access_token } };
    },
    invalid: { access_token: [undefined, '', 5, 'x'.repeat(8193)] },
  },
  deleteAccount: { remedy: 'newAccount', valid: ofNewAccount(({ access_token: token }) => ({ token })) },
  revokeApple: {
    body: { authorization_code: 'x' },
    remedy: 'appleCode',
    valid: ({ appleRevocation }) => appleRevocation?.() ?? null,
    invalid: { authorization_code: [undefined, '', 5, 'x'.repeat(1025)], client_id: [5], redirect_uri: [5] },
  },
  endOtherSessions: { remedy: 'newAccount', valid: ofNewAccount(({ access_token: token }) => ({ token })) },
  endSession: {
    remedy: 'newAccount',
    valid: ofNewAccount(({ access_token: token }) => ({ token, id: String(decodeJwt(token)['session_id']) })),
  },
  updateCustomer: {
    valid: () => ({ body: { full_name: 'Ada', marketing_opt_in: false } }),
    invalid: {
      ...{ email: [newEmail()], provider: ['google'], source: ['google'], id: [id] }, // read-only
      ...{ is_active: [false], last_seen_at: [null], updated_at: [null] },
      full_name: ['', '   ', '\u200b\ufeff\u2063', 'x'.repeat(201), 5, 'a\0b', '\ud800'],
      avatar_url: ['http://a.example/x.png', `https://a.example/${'x'.repeat(2048)}`],
      phone: ['0170 1234567', '+49', '+0123456789', '+1234567890123456', '+49 170 CALLME'],
      locale: ['not a locale', 'x', 'de__DE', `de-x-${'abcdefgh-'.repeat(5)}a`],
      country: ['XX', 'UK', 'Germany', 'ß', 'ﬁ'],
      marketing_opt_in: [null, 'true', 1],
    },
  },
};

/** Returns a function that makes a request with an invalid value in the declared place: body, header or query. */
const wrongIn =
  ({ body, headers }: Endpoint, good?: object) =>
  (field: string, value: unknown): Request => {
    if (body) return { body: { ...good, [field]: value } };
    return headers ? { headers: { [field]: String(value) } } : { query: `${field}=${value}` };
  };

export const table = endpoints.map((endpoint) => {
  const { body, valid = () => ({ body }), remedy, invalid = {} } = rows[endpoint.operation] ?? {};
  return { ...endpoint, valid, remedy, invalid, withWrong: wrongIn(endpoint, body) };
});
export type EndpointRow = (typeof table)[number];
