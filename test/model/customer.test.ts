import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { plainHttpsUrl } from '../../src/model/customer.ts';
import { type Sql, test } from '../support/test.ts';

const accepted = [
  ...['https://a.example', 'HTTPS://EXAMPLE.com/', 'https://a-b_c.example.:443/a//b', 'https://a.example:65499/x'],
  ...['https://bücher.example:8443/ä.png?x=[1]#<y>', 'https://🙂.example/"\'|`{}^'],
  ...['https://[2001:db8::1]/a.png', 'https://a.example/user@b.example:80'],
  `https://a.example/${'x'.repeat(2030)}`,
];
const rejected = [
  ...['', 'https://', 'http://a.example', 'javascript:alert(1)'],
  ...[' https://a.example', 'https://a.example\n', 'https://a.example/a b', 'https://a.example/a\u00a0b'],
  ...['https://a.example/\u202eb', 'https://a.example/\ufeff', 'https://a\u200bb.example', 'https://a.example/a\\b'],
  ...['https://user@a.example', 'https://@a.example'],
  ...['https://example.com:/x', 'https://:80', 'https://a.example:65536/', 'https://a.example:80:80/'],
  ...['https://a"b.com/', 'https://<script>', 'https://%61.example/x.png', 'https://a{b}.example'],
  ...['https://[::1', 'https://[a.example]/'],
];

async function databaseAccepts(sql: Sql, addresses: string[]): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from jsonb_array_elements_text(${JSON.stringify(addresses)}::text::jsonb) with ordinality as given (address, place)
    where private.is_https_address(address) order by place`;
  return rows.map(({ address }) => address);
}

test('the gateway and the database accept the same addresses of pictures', async ({ sql }) => {
  const isAccepted = (address: string) => plainHttpsUrl.test(address);
  expect([...accepted, ...rejected].filter(isAccepted)).toEqual(accepted);
  expect(await databaseAccepts(sql, [...accepted, ...rejected])).toEqual(accepted);

  const piece = fc.oneof(
    fc.constantFrom(...'https:// HTTPS:// a é . : 80 65536 / ? # @ [ ] \\ %'.split(' ')),
    fc.string({ unit: 'binary', maxLength: 2 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
    fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
  );
  const address = fc.array(piece, { maxLength: 6 }).map((pieces) => `https://${pieces.join('')}`);
  const seed = randomInt(2 ** 31);
  const addresses = fc.sample(address, { numRuns: 5000, seed });
  const judged = addresses.filter(isAccepted);
  expect(judged.length).toBeGreaterThan(250);
  expect(await databaseAccepts(sql, addresses), `seed ${seed}`).toEqual(judged);
});
