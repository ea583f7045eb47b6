import { describe, expect, onTestFinished } from 'vitest';
import { apiAt } from '../support/api.ts';
import type { Gateway } from '../support/gateway.ts';
import { clientWith, newEmail, password, test } from '../support/test.ts';

async function signUpAda(gateway: Gateway) {
  const account = { email: newEmail(), password, full_name: 'Ada' };
  const { body } = await apiAt(gateway.url).post('/auth/signup').send(account).expect(200);
  const app = clientWith(gateway, body.data.access_token);
  const customer = async () => (await app.get('/me/customer').expect(200)).body.data;
  const patch = (changes: object) => app.patch('/me/customer').send(changes);
  return { user: body.data.user as { id: string; email: string }, app, customer, patch };
}

describe('GET /me', () => {
  test('returns the profile, and GET /me/customer the record, with the kind of credential', async ({ gateway }) => {
    const { user, app, customer } = await signUpAda(gateway);
    const profile = { ...user, full_name: 'Ada', avatar_url: null };
    const { body } = await app.get('/me/customer').expect(200);
    const ofAuth = { provider: 'email', source: 'email', is_active: true, last_seen_at: null };
    const chosen = { phone: null, locale: null, country: null, marketing_opt_in: false };
    expect(body).toMatchObject({ data: { ...profile, ...ofAuth, ...chosen }, auth_via: 'jwt' });
    expect((await app.get('/me')).body).toEqual({ data: profile, auth_via: 'jwt' });

    await expect.poll(async () => (await customer()).last_seen_at).toEqual(expect.any(String));
    const seen = await customer();
    expect(seen.updated_at).toBe(body.data.updated_at);
    expect((await customer()).last_seen_at).toBe(seen.last_seen_at); // changes at most every 15 minutes
  });

  test('returns the claims of the token, as the export does, without a customer record', async ({ gateway, sql }) => {
    const { user, app, patch } = await signUpAda(gateway);
    // Delete the account, because the doctor reports one without a customer record.
    onTestFinished(async () => void (await sql`delete from auth.users where id = ${user.id}`));
    // Disable the trigger that rejects the deletion.
    await sql.begin(async (transaction) => {
      await transaction`alter table public.customers disable trigger customers_keep`;
      await transaction`delete from public.customers where id = ${user.id}`;
      await transaction`alter table public.customers enable trigger customers_keep`;
    });
    const profile = { ...user, full_name: null, avatar_url: null };
    expect((await app.get('/me')).body).toEqual({ data: profile, auth_via: 'jwt' });
    await app.get('/me/customer').expect(404);
    await patch({ full_name: 'Ada' }).expect(404);
    const listened = { history: [], play_receipts: [], listening_days: [], progress: [], history_clearings: [] };
    const none = { favorites: [], api_keys: [], lists: [], removed_lists: [], ...listened };
    expect((await app.get('/me/export')).body.data).toEqual({ profile, customer: null, ...none });
  });
});

describe('PATCH /me/customer', () => {
  test('changes only the given fields, and returns the record', async ({ gateway }) => {
    const { patch, customer } = await signUpAda(gateway);
    const before = await customer();
    const given = { phone: '+49 (170) 123-45.67', locale: 'PT-br', country: 'de', marketing_opt_in: true };
    const stored = { phone: '+491701234567', locale: 'pt-BR', country: 'DE', marketing_opt_in: true };
    const { data } = (await patch(given).expect(200)).body;
    const { last_seen_at, updated_at } = data;
    expect(data).toEqual({ ...before, ...stored, last_seen_at, updated_at, marketing_opt_in_at: updated_at });
    expect(updated_at > before.updated_at).toBe(true);
    expect((await patch({}).expect(200)).body.data).toMatchObject({ ...stored, updated_at });
  });

  test('keeps the time of a consent while it lasts, and sets none for an older consent', async ({ gateway, sql }) => {
    const { user, patch, customer } = await signUpAda(gateway);
    const timeAfter = async (changes: object) => (await patch(changes).expect(200)).body.data.marketing_opt_in_at;
    expect(await timeAfter({ marketing_opt_in: false })).toBeNull();
    const agreedAt = await timeAfter({ marketing_opt_in: true });
    expect(Math.abs(Date.parse(agreedAt) - Date.now())).toBeLessThan(60_000);
    expect(await timeAfter({ marketing_opt_in: true, full_name: 'Ada L.' })).toBe(agreedAt);
    expect(await timeAfter({ marketing_opt_in: false })).toBeNull();
    expect((await timeAfter({ marketing_opt_in: true })) > agreedAt).toBe(true);

    await sql`update public.customers set marketing_opt_in_at = null where id = ${user.id}`; // as before it had a time
    expect(await timeAfter({ marketing_opt_in: true, full_name: 'Ada' })).toBeNull();
    expect(await customer()).toMatchObject({ marketing_opt_in: true, marketing_opt_in_at: null });
  });

  test('trims text, accepts locales and countries as phones have them, and clears by null', async ({ gateway }) => {
    const { patch } = await signUpAda(gateway);
    for (const [given, stored] of [
      ...[' ', '\n', '\u0085', '\u001c\u001f', '\u180e', '\u00a0\u3000\ufeff'].map((space) => [
        { full_name: `${space}Ada L.${space}` },
        { full_name: 'Ada L.' },
      ]),
      [{ avatar_url: ' https://a.example/x.png?y=1#z ' }, { avatar_url: 'https://a.example/x.png?y=1#z' }],
      [{ locale: 'zh-Hant_HK' }, { locale: 'zh-Hant-HK' }],
      [{ locale: 'th_TH@calendar=buddhist' }, { locale: 'th-TH' }],
      ...Object.entries({
        ...{ 'zh_CN_#Hans': 'zh-Hans-CN', 'sr__#Latn': 'sr-Latn', 'th_TH_TH_#u-nu-thai': 'th-TH-u-nu-thai' },
        ...{ 'zh_TW_#Hant_u-ca-roc': 'zh-Hant-TW-u-ca-roc', 'en_GB.UTF-8': 'en-GB' },
      }).map(([given, stored]) => [{ locale: given }, { locale: stored }]),
      ...[
        ...['+49 (0)170 1234567', '\u202a+49 170 1234567\u202c', '+49–170/123\u00ad45\u22126\u200b7'],
        ...['＋４９ （0） 170 1234567', '+٤٩ ۱۷۰ १२३४५६७'],
      ].map((phone) => [{ phone }, { phone: '+491701234567' }]),
      ...['+39 06 1234567', '+39 (06) 1234567', '+39 (0)6 1234567'].map((phone) => [
        { phone },
        { phone: '+39061234567' },
      ]),
      [{ country: 'xk' }, { country: 'XK' }],
    ] as [object, object][])
      expect((await patch(given).expect(200)).body.data).toMatchObject(stored);
    const cleared = { full_name: null, avatar_url: null, phone: null, locale: null, country: null };
    expect((await patch(cleared)).body.data).toMatchObject(cleared);
  });

  test('writes nothing if a field is invalid, and keeps parallel changes', async ({ gateway }) => {
    const { app, patch, customer } = await signUpAda(gateway);
    for (const rejected of [{ country: 'XX' }, { email: newEmail() }])
      await patch({ full_name: 'Fine', ...rejected }).expect(400);
    const odd = app.patch('/me/customer').type('json').send('{"__proto__":{"full_name":"x"}}');
    await odd.expect(400).expect('X-Error-Reason', 'validation');
    expect((await customer()).full_name).toBe('Ada');

    const changes = [{ full_name: 'B' }, { phone: '+4917012345' }, { country: 'IT' }, { locale: 'it' }];
    await Promise.all(changes.map((body) => patch(body).expect(200)));
    expect(await customer()).toMatchObject(Object.assign({}, ...changes));
  });
});
