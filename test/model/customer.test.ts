import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isPlainHttpsUrl } from '../../src/model/customer.ts';
import { bearer } from '../support/api.ts';
import { type Sql, test } from '../support/test.ts';

const acceptedUrls = [
  'https://a.example',
  'HTTPS://EXAMPLE.com/',
  'https://a-b_c.example.:443/a//b',
  'https://a.example:0/x',
  'https://bücher.example:8443/ä.png?x=[1]#<y>',
  'https://🙂.example/"\'|`{}^',
  'https://[2001:db8::1]/a.png',
  'https://a.example/user@b.example:80',
  `https://a.example/${'x'.repeat(2030)}`,
];

const rejectedUrls = [
  '',
  'https://',
  'http://a.example',
  'javascript:alert(1)',
  ' https://a.example',
  'https://a.example ',
  'https://a.example/a b',
  'https://a.example\n',
  'https://a.example/a\u00a0b',
  'https://a.example/\u202eb',
  'https://a.example/\ufeff',
  'https://a\u200bb.example',
  'https://a.example/a\\b',
  'https://user@a.example',
  'https://@a.example',
  'https://example.com:/x',
  'https://:80',
  'https://a.example:65536/',
  'https://a.example:80:80/',
  'https://a"b.com/',
  'https://<script>',
  'https://%61.example/x.png',
  'https://a{b}.example',
  'https://[::1',
  'https://[a.example]/',
];

/** Which of the addresses the database takes. */
async function databaseAccepts(sql: Sql, addresses: string[]): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from jsonb_array_elements_text(${JSON.stringify(addresses)}::text::jsonb) with ordinality as given (address, place)
    where private.is_https_address(address) order by place`;
  return rows.map(({ address }) => address);
}

describe('the address of a picture', () => {
  test('the gateway and the database accept and reject the same addresses of pictures', async ({ sql }) => {
    expect([...acceptedUrls, ...rejectedUrls].filter(isPlainHttpsUrl)).toEqual(acceptedUrls);
    expect(await databaseAccepts(sql, [...acceptedUrls, ...rejectedUrls])).toEqual(acceptedUrls);
  });

  test('the gateway and the database agree on generated addresses of pictures', async ({ sql }) => {
    const piece = fc.oneof(
      fc.constantFrom(
        'https://',
        'HTTPS://',
        'a',
        'é',
        '.',
        ':',
        '80',
        '65536',
        '/',
        '?',
        '#',
        '@',
        '[',
        ']',
        '\\',
        '%',
      ),
      fc
        .string({ unit: 'binary', maxLength: 2 })
        .filter((text) => text.isWellFormed() && !text.includes('\0')),
      fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
    );
    const address = fc.array(piece, { maxLength: 6 }).map((pieces) => `https://${pieces.join('')}`);
    const seed = randomInt(2 ** 31);
    const addresses = fc.sample(address, { numRuns: 20_000, seed });
    const judged = addresses.filter(isPlainHttpsUrl);
    expect(judged.length).toBeGreaterThan(1000);
    expect(await databaseAccepts(sql, addresses), `seed ${seed}`).toEqual(judged);
  });

  test('the response names a rejected address, and an accepted address is stored', async ({ api, user }) => {
    const change = (avatar_url: string) =>
      api.patch('/me/customer').auth(user.access_token, bearer).send({ avatar_url });
    for (const address of ['https://example.com:/x', 'https://a"b.com/']) {
      const { body } = await change(address).expect(400);
      expect(body.error.message).toMatch(/^avatar_url: must be an https address/);
    }
    const { body } = await change('HTTPS://EXAMPLE.com/').expect(200);
    expect(body.data.avatar_url).toBe('HTTPS://EXAMPLE.com/');
  });
});
