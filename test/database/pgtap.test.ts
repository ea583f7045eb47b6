import { afterAll } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { testPgtap } from './pgtap-suite.ts';

const { databaseUrl, stop } = await startDatabase();
afterAll(stop);

testPgtap('PostgreSQL 17 with the seed of supabase start', databaseUrl, 'supabase/seed.sql');
