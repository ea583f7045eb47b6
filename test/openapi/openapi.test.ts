import { readFile } from 'node:fs/promises';
import { createConfig, lint } from '@redocly/openapi-core';
import { documentText, generatedFiles } from '@sounds-service/dev/openapi';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { expect, test } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { soundCursor } from '../../src/model/cursor.ts';
import { openDocumentText } from '../../src/openapi/document.ts';

const document = JSON.parse(documentText());

test('openapi.json and docs/api.md are up to date; if not, run: npm run openapi', async () => {
  for (const [path, text] of Object.entries(generatedFiles())) expect(await readFile(path, 'utf8'), path).toBe(text);
});

test('openapi.json passes the recommended rules of Redocly without a warning', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  expect(await lint({ ref: 'openapi.json', config })).toEqual([]);
});

const sound = `id title description bowl_note frequency_hz duration_sec category tags cover_image_url is_featured
  play_count created_at cover_placeholder is_premium`;
const tokens = 'access_token refresh_token token_type expires_at expires_in';

/** Fields of the contract's tables, in the order in which responses must have them. */
const contractOrder = {
  Session: `${tokens} user`,
  SignedUp: `${tokens} needs_email_confirmation user`,
  RefreshedSession: tokens,
  Sound: sound,
  SoundDetail: `${sound} audio_url audio_url_expires_in loudness_lufs true_peak_dbtp waveform is_locked`,
  SoundPreview: 'id title category cover_image_url duration_sec cover_placeholder is_premium',
  Favorite: 'sound_id created_at sounds',
  Profile: 'id email full_name avatar_url',
  Customer: `id email full_name avatar_url phone provider source locale country marketing_opt_in is_active
    last_seen_at created_at updated_at premium_until marketing_opt_in_at`,
  HomeSection: 'id slug title mode rule_type rule_value rule_include_children sounds',
  Category: 'id name slug description sort_order children',
  SubCategory: 'id name slug description sort_order',
};

test('every object has its fields in the order of the contract', () => {
  for (const [name, fields] of Object.entries(contractOrder))
    expect(Object.keys(document.components.schemas[name].properties), name).toEqual(fields.split(/\s+/));
});

/** Finds objects and enumerations that are not components, because generators would invent their names. */
function nameless(schema: unknown, at: string, isNamed = false): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here = !isNamed && ('properties' in schema || 'enum' in schema) ? [at] : [];
  return [...here, ...Object.entries(schema).flatMap(([key, part]) => nameless(part, `${at}.${key}`))];
}

test('every body, object and enumeration has a name for generated clients', () => {
  const { paths, components } = document;
  const schemas = Object.entries(components.schemas);
  const found = schemas.flatMap(([name, schema]) => nameless(schema, name, true));
  found.push(...nameless(paths, 'paths'), ...nameless(components.responses, 'responses'));
  expect(found).toEqual([]);
});

test('descriptions name the default limits with their windows', () => {
  const limitsOf = (path: string) => document.paths[path].post.description.match(/Beyond .*/)[0];
  expect(limitsOf('/auth/signin')).toContain(
    '100 wrong passwords in 10 minutes for one client, or 10 wrong passwords a minute for one account and client',
  );
  expect(limitsOf('/auth/recover')).toContain(
    '2 mails for a recovery an hour for one account and network, or 5 mails for a recovery an hour for one account',
  );
});

/** Lists everything in the document that some generator of clients misreads. */
function misread(part: unknown, at: string): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.entries(part).flatMap(([key, value]) => misread(value, `${at}.${key}`));
  const { pattern, required } = part as Record<string, unknown>;
  if ('oneOf' in part || 'anyOf' in part || 'allOf' in part) inner.push(`${at} is a union`);
  if (typeof pattern === 'string' && pattern.includes('/')) inner.push(`${at} has a pattern with a slash`);
  if (at.includes('.headers.') && required === true) inner.push(`${at} is a required header`);
  return inner;
}

test('the document has no unions, patterns with a slash or required headers', () => {
  expect(misread(document, '')).toEqual([]);
  expect(misread({ headers: { A: { required: true } }, b: { oneOf: [] }, c: { pattern: '/' } }, '')).toHaveLength(3);
});

test('fields that may be null are references to components that may be null', () => {
  const { schemas } = document.components;
  const nullable = Object.keys(schemas).filter((name) => [schemas[name].type].flat().includes('null'));
  expect(nullable.sort().join(' ')).toBe(
    'CopiedCategory CopiedHomeSection CopiedSound CustomerOrNull CustomerSource HomeRuleType SavedListOrNull SoundFile SoundPreviewOrNull',
  );
  for (const name of nullable) expect(schemas[name].enum ?? [null], name).toContain(null);
});

test('the open document is the other one without enumerations and patterns', () => {
  const open = JSON.parse(openDocumentText(document));
  expect(Object.keys(open.components.schemas)).toEqual(Object.keys(document.components.schemas));
  expect(open.paths['/config'].get).toEqual(document.paths['/config'].get);
  expect(open.components.schemas.HomeRuleType).toEqual({ type: ['string', 'null'] });
  expect(JSON.stringify(open)).not.toMatch(/"(enum|pattern)":/);
});

const ajv = new Ajv2020({ strict: false, formats: fullFormats });
ajv.addSchema(document, 'document');

/** Values of fields that both the document and the service accept, and values that both reject. */
const fields: Record<string, { right: unknown[]; wrong: unknown[] }> = {
  'VerifyRequest.code': {
    right: ['123456', ' 123 456 7890', '١٢٣٤٥٦٧٨', '\u200e１２３–４５६\u2069'],
    wrong: ['12345', '12345678901', '12345a'],
  },
  'VerifyRequest.password': { right: ['123456', null], wrong: ['12345', '1234567\0'] },
  'SignUpRequest.full_name': { right: ['Ada', null], wrong: ['', '  ', 'A\0da', 5, 'x'.repeat(201)] },
  'SignUpRequest.password': { right: ['123456'], wrong: ['12345', '1234567\0', null] },
  'SignUpRequest.email': { right: ['a^b%c@example.com'], wrong: ['ada', 'ada@', '@example.com', null] },
  'SignInRequest.password': { right: ['1'], wrong: ['', '\0'] },
  'ExchangeIdTokenRequest.nonce': { right: ['n', null], wrong: ['', 'n\0'] },
  'UpdateCustomerRequest.locale': {
    right: [
      ...'de pt_BR zh-Hant_HK th_TH@calendar=buddhist de-u-co-phonebk en-US-x-twain zh_CN_#Hans th_TH_TH_#u-nu-thai'.split(
        ' ',
      ),
      ' de ',
    ],
    wrong: [...'d de__AT deutsch-sprachig! de- de--AT de-AT- 12'.split(' '), '', 'x'.repeat(36), 'de\0'],
  },
  'UpdateCustomerRequest.country': { right: ['AT', 'at', null], wrong: ['AUT', 'A', '12', ''] },
  'UpdateCustomerRequest.phone': {
    right: ['+49 (170) 123-45.67', '\u202a+49 170 1234567\u202c', '＋٤٩ 170/1234567', null],
    wrong: ['0170 1234567', '+123', '+4917x'],
  },
  'UpdateCustomerRequest.avatar_url': { right: ['https://a.example/b', null], wrong: ['http://a.example/b', 'a'] },
};

test.for(Object.entries(fields))('document and service accept the same values: %s', ([name, { right, wrong }]) => {
  const [component, field = ''] = name.split('.');
  const schema = `document#/components/schemas/${component}/properties/${field}`;
  const { body } = endpoints.find((endpoint) => endpoint.body?.meta()?.['id'] === component) ?? {};
  for (const value of [...right, ...wrong]) {
    const { error } = body?.safeParse({ type: 'recovery', [field]: value }) ?? {};
    const isTaken = error ? error.issues.every(({ path }) => path[0] !== field) : body !== undefined;
    const isRight = right.includes(value);
    expect([value, ajv.validate(schema, value), isTaken]).toEqual([value, isRight, isRight]);
  }
});

test('the document accepts all spellings of a cursor, and rejects texts that are not a cursor', () => {
  const { parameters } = document.paths['/sounds'].get;
  const { schema } = parameters.find(({ name }: { name: string }) => name === 'cursor');
  const right = ['2026-06-23T09:30:00.000Z', '2026-06-23 09:30:00,5+02:00', '2026-06-23t09:30+0200'];
  right.push(Buffer.from('["title","Ω ocean / 100 %"]').toString('hex'));
  for (const value of [...right, '', 'x"', '2026/06/23', 'ø'.repeat(9)]) {
    const verdicts = [ajv.validate(schema, value), soundCursor.safeParse(value).success];
    expect([value, ...verdicts]).toEqual([value, right.includes(value), right.includes(value)]);
  }
});
