import { describe, expect, inject, test } from 'vitest';
import { run } from './embedded/processes.ts';
import { freePort } from './support/ports.ts';

describe('npm run seed', () => {
  async function seed(SUPABASE_URL: string, SUPABASE_SECRET_KEY: string) {
    const command = run(['dev/seed/main.ts'], { SUPABASE_URL, SUPABASE_SECRET_KEY });
    return { code: await command.exited, ...command.output };
  }

  test('says in one sentence what to set when the address is missing', async () => {
    const { code, stdout, stderr } = await seed('', '');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^Set SUPABASE_URL and SUPABASE_SECRET_KEY of the project to fill[^\n]+\.\n$/);
  });

  test('says when nothing answers at the address, or it is invalid', async () => {
    for (const address of [`http://127.0.0.1:${await freePort()}`, 'nonsense']) {
      const { code, stderr } = await seed(address, 'sb_secret_x');
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^Nothing answers at SUPABASE_URL, ${address}\\. [^\\n]+\\.\\n$`));
    }
  });

  test('reports why Storage refuses the key', async () => {
    const { code, stderr } = await seed(inject('stack').apiUrl, 'sb_secret_x');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot list \S+ in Storage: [^\n]+\n$/);
  });
});
