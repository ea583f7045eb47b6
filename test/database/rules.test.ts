import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { CustomerChanges, countryCodes } from '../../src/model/customer.ts';
import { type Sql, test } from '../support/test.ts';

// Tests rules of both gateway and database. See also model/customer.test.ts and tools/catalogue/test/paths.test.ts.

/** Returns the values that a check constraint of customers accepts. */
async function accepted(sql: Sql, constraint: string, field: string, values: string[]): Promise<string[]> {
  const [row] = await sql`
    select pg_get_expr(conbin, conrelid) as rule from pg_constraint
    where conrelid = 'public.customers'::regclass and conname = ${constraint}`;
  const rows = await sql.unsafe(
    `select ${field} from unnest($1::text[]) with ordinality as given (${field}, place) where ${row?.['rule']} order by place`,
    [values],
  );
  return rows.map((found) => found[field]);
}

const rules = {
  phone: 'phone_is_e164_like_plus_491701234567',
  locale: 'locale_is_a_bcp_47_tag_like_de_or_pt_br',
  country: 'country_is_an_iso_3166_1_alpha_2_code',
} as const;
type Field = keyof typeof rules;

/** Tells whether the gateway stores a value unchanged. */
const storesUnchanged = (field: Field, value: string) =>
  CustomerChanges.safeParse({ [field]: value }).data?.[field] === value;

const letters = fc.constantFrom(...'abcxyzABZ0149-_+ .@ß');
const samples: Record<'phone' | 'locale', fc.Arbitrary<string>> = {
  phone: fc.array(fc.constantFrom(...'+0123456789 -٣'), { maxLength: 18 }).map((parts) => `+${parts.join('')}`),
  locale: fc.oneof(
    fc
      .array(fc.constantFrom('de', 'DE', 'Latn', 'hant', '419', '1901', 'rozaj', 'u', 'x', 'nu', 'a', '-'), {
        maxLength: 5,
      })
      .map((parts) => parts.join('-')),
    fc.array(letters, { maxLength: 12 }).map((parts) => parts.join('')),
  ),
};

describe('the gateway and the database', () => {
  test.for(['phone', 'locale'] as const)('store the same values as %s', async (field, { sql }) => {
    const seed = randomInt(2 ** 31);
    const values = [...new Set(fc.sample(samples[field], { numRuns: 5000, seed }))];
    const stored = values.filter((value) => storesUnchanged(field, value));
    expect(stored.length).toBeGreaterThan(20);
    const taken = new Set(await accepted(sql, rules[field], field, values));
    expect(
      stored.filter((value) => !taken.has(value)),
      `seed ${seed}`,
    ).toEqual([]);
    if (field !== 'locale') expect(stored).toHaveLength(taken.size);
  });

  test('accept the same country codes', async ({ sql }) => {
    const letter = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const pairs = letter.flatMap((first) => letter.map((second) => first + second));
    expect(await accepted(sql, rules.country, 'country', pairs)).toEqual([...countryCodes].sort());
  });

  test('accept the same language tags', async ({ sql }) => {
    const tags = [
      ...['de', 'pt-BR', 'zh-Hant-TW', 'es-419', 'de-CH-1901', 'sl-rozaj', 'ar-u-nu-latn', 'en-x-pirate'],
      ...['x', 'en-u', 'not a locale', 'zh-yue-x', 'de_AT', '', 'de-', '-de', 'en-a-bb-a-cc', 'en-x', 'e'],
      'en-abcdefghi',
    ];
    const stored = tags.filter((tag) => storesUnchanged('locale', tag));
    expect(stored).toHaveLength(8);
    expect(await accepted(sql, rules.locale, 'locale', tags)).toEqual([...stored, 'en-a-bb-a-cc']);
  });
});
