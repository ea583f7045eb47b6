import { rm } from 'node:fs/promises';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import { startStack } from '@sounds-service/local-supabase/stack';
import postgres from 'postgres';
import { test as base } from 'vitest';
import { fixture } from '../support/fixture.ts';
import { preparedFolder } from '../support/prepared.ts';
import { type Diagnose, doctorOf, settingsOf } from './stack.ts';

/** Connections are those of `postgres`, the role of the SQL editor, and of a role with all rights on Supabase. */
interface OwnStack {
  apiUrl: string;
  sql: postgres.Sql;
  superuser: postgres.Sql;
  diagnose: Diagnose;
}

/** Test function with a separate Supabase for this file, which tests may damage. */
export const test = base.extend<{ $file: { ownStack: OwnStack } }>({
  ownStack: [
    fixture(async (use) => {
      const dataDir = await preparedFolder();
      const stack = await startStack({ dataDir, apiPort: 0, databasePort: 0, durable: false });
      const sql = postgres(stack.databaseUrl, { max: 1, onnotice() {} });
      const superuser = postgres(as(superuserName, stack.databaseUrl), { max: 1, onnotice() {} });
      const { apiUrl } = stack;
      await use({ apiUrl, sql, superuser, diagnose: doctorOf(settingsOf(apiUrl), superuser) });
      await Promise.all([sql.end(), superuser.end()]);
      await stack.stop();
      await rm(dataDir, { recursive: true, force: true });
    }),
    { scope: 'file' },
  ],
});
