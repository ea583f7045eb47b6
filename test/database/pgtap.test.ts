import { testPgtap } from './pgtap-suite.ts';

testPgtap('PostgreSQL 17 with the seed of supabase start', 17, 'supabase/seed.sql');
