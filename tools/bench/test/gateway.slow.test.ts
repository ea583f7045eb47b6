import { test } from 'vitest';
import { measureSet } from '../gateway.ts';
import { start } from '../servers.ts';

test('the gateway and the servers that it is compared with send the same responses', async () => {
  await using supabase = await start('tools/bench/stub.ts');
  await measureSet(supabase, 0);
});
