import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as jose from 'jose';
import { describe, expect } from 'vitest';
import { codeIn, startEdgeFunction, untilCallable } from '../support/edge-function.ts';
import { fixture } from '../support/fixture.ts';
import { freePort } from '../support/ports.ts';
import { test as base, newUser, type Sql } from '../support/test.ts';

const page = 'docs/apple.md';
const chapter = 'Consent of parents';
const bundleId = 'com.example.sounds';

/** Makes a chain of root, intermediate and leaf certificates, the last two with the given extensions. */
const script = `
set -e
for name in root mid; do openssl ecparam -name secp384r1 -genkey -noout -out $name.key; done
openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out leaf.key
openssl req -x509 -new -sha384 -key root.key -subj /CN=Root -days 2 -out root.pem
sign() {
  openssl req -new -key $1.key -subj /CN=$1 -out $1.csr
  openssl x509 -req -sha384 -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days 2 -extfile $1.ext -out $1.pem
}
printf 'basicConstraints=critical,CA:true\\n%s\\n' "$MID" > mid.ext
printf 'basicConstraints=critical,CA:false\\n%s\\n' "$LEAF" > leaf.ext
sign mid root
sign leaf mid`;

const marks = { MID: '1.2.840.113635.100.6.2.1=ASN1:NULL', LEAF: '1.2.840.113635.100.6.11.1=ASN1:NULL' };

/** Makes certificates like those of the App Store. Returns the root in base64, and a function that signs with them. */
function makeAppStore({ MID, LEAF } = marks) {
  const cwd = mkdtempSync(join(tmpdir(), 'sounds-service-app-store-'));
  execFileSync('sh', ['-c', script], { cwd, env: { ...process.env, MID, LEAF }, stdio: 'ignore' });
  const text = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const x5c = ['leaf', 'mid', 'root'].map((name) => text(`${name}.pem`).replaceAll(/-----[A-Z ]+-----|\s/g, ''));
  const key = createPrivateKey(text('leaf.key'));
  rmSync(cwd, { recursive: true });
  const sign = (content: object) =>
    new jose.CompactSign(new TextEncoder().encode(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'ES256', x5c })
      .sign(key);
  return { root: x5c[2] ?? '', sign };
}

type AppStore = ReturnType<typeof makeAppStore>;

const test = base.extend<{ $file: { store: AppStore; installed: Sql } }>({
  store: [fixture(async (use) => use(makeAppStore())), { scope: 'file' }],
  /** Installs the SQL of the page. Removes it after the tests. */
  installed: [
    async ({ sql }, use) => {
      await sql.unsafe(codeIn(page, 'sql', chapter));
      await untilCallable('rescind_consent', { transaction_id: 'of nobody' });
      await use(sql);
      await sql`drop function public.save_app_transaction, public.rescind_consent`;
      await sql`drop table private.app_transactions`;
    },
    { scope: 'file' },
  ],
});

/** Starts the Edge Function of the page. @returns a function that posts a body to it, and returns the status */
function start({ root }: AppStore, env: Record<string, string> = {}) {
  const packages = { jose, jsrsasign: createRequire(import.meta.url)('jsrsasign') };
  const settings = { APPLE_BUNDLE_ID: bundleId, APPLE_ROOT_CA: root, ...env };
  const { handler } = startEdgeFunction(codeIn(page, 'ts', chapter), packages, settings);
  return async (body: unknown, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const request = new Request('https://example.com', { method: 'POST', headers, body: JSON.stringify(body) });
    return (await handler(request)).status;
  };
}

/** Returns a signed AppTransaction, with the documented fields that matter here. */
const transaction = ({ sign }: AppStore, appTransactionId: string, more: object = {}) =>
  sign({ receiptType: 'Production', bundleId, appTransactionId, originalPlatform: 'iOS', ...more });

/** Returns the body of a notification. */
async function rescission(store: AppStore, signedAppTransactionInfo: string, notificationType = 'RESCIND_CONSENT') {
  const appData = { bundleId, environment: 'Production', signedAppTransactionInfo };
  return { signedPayload: await store.sign({ notificationType, version: '2.0', signedDate: Date.now(), appData }) };
}

async function isActive(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`select is_active from public.customers where id = ${id}`;
  return row?.['is_active'];
}

describe('the recipe for the consent of parents', { tags: ['openssl'] }, () => {
  test('a withdrawn consent deactivates the accounts of that copy of the app', async ({
    gateway,
    installed,
    store,
  }) => {
    const post = start(store);
    const [ada, ben] = [await newUser(gateway), await newUser(gateway)];
    const [ofAda, ofBen] = [await transaction(store, ada.user.id), await transaction(store, ben.user.id)];
    for (const _ of ['first', 'repeated'])
      expect(await post({ signedAppTransaction: ofAda }, ada.access_token)).toBe(200);
    expect(await post({ signedAppTransaction: ofBen }, ben.access_token)).toBe(200);
    expect(await post(await rescission(store, ofAda, 'DID_RENEW'))).toBe(200);
    expect(await isActive(installed, ada.user.id)).toBe(true);
    for (const _ of ['first', 'repeated']) expect(await post(await rescission(store, ofAda))).toBe(200);
    expect(await isActive(installed, ada.user.id)).toBe(false);
    expect(await isActive(installed, ben.user.id)).toBe(true);
    await ada.app.delete('/me').expect(401);
    expect(await post(await rescission(store, await transaction(store, 'of nobody')))).toBe(200);
  });

  test('rejects what Apple has not signed for the app, and the app without a user', async ({
    gateway,
    installed,
    store,
  }) => {
    const post = start(store);
    const { user, access_token } = await newUser(gateway);
    const right = await transaction(store, user.id);
    expect(await post({ signedAppTransaction: right }, access_token)).toBe(200);
    for (const token of [undefined, 'none of the service'])
      expect(await post({ signedAppTransaction: right }, token)).toBe(401);
    const forged = [makeAppStore(), makeAppStore({ ...marks, LEAF: '' }), makeAppStore({ ...marks, MID: '' })];
    const [foreign, ...unmarked] = forged;
    const wrong = [
      foreign && (await transaction(foreign, user.id)),
      await transaction(store, user.id, { bundleId: 'com.example.other' }),
      await transaction(store, user.id, { receiptType: 'Sandbox' }),
      `${right.slice(0, -4)}AAAA`,
      'rubbish',
    ];
    for (const signed of wrong) expect(await post({ signedAppTransaction: signed }, access_token)).toBe(401);
    expect(await post(await rescission(store, String(wrong[0])))).toBe(401);
    if (foreign) expect(await post(await rescission(foreign, right))).toBe(401);
    for (const each of unmarked) expect(await start(each)(await rescission(each, right))).toBe(401);
    for (const body of [null, {}, { signedPayload: 'rubbish' }]) expect(await post(body)).toBe(401);
    const unreachable = { SUPABASE_URL: `http://127.0.0.1:${await freePort()}` };
    expect(await start(store, unreachable)(await rescission(store, right))).toBe(503);
    expect(await isActive(installed, user.id)).toBe(true);
  });
});
